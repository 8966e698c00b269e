//! Newtyped indices: a die is not a plane, and an index is not a count.
//!
//! Every index is dense and counts over one whole drive: plane 5 is the sixth plane of the drive, wherever it sits.

macro_rules! index {
    ($(#[$meta:meta])* $name:ident($inner:ty)) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// "No such thing": never a valid index.
            pub const NONE: Self = Self(<$inner>::MAX);

            /// The index as a place in an array.
            #[inline(always)]
            pub const fn at(self) -> usize {
                self.0 as usize
            }

            /// Whether this is a real index.
            #[inline(always)]
            pub const fn is_some(self) -> bool {
                self.0 != <$inner>::MAX
            }

            /// Whether this is [`Self::NONE`].
            #[inline(always)]
            pub const fn is_none(self) -> bool {
                self.0 == <$inner>::MAX
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                if self.is_none() { write!(f, concat!(stringify!($name), "(none)")) } else { write!(f, concat!(stringify!($name), "({})"), self.0) }
            }
        }
    };
}

index!(
    /// A mapping unit of the host's address space, or a hidden unit of the drive, numbered after the host's.
    LogicalUnit(u32)
);
index!(
    /// A place for one mapping unit in flash: `page * units_per_page + offset`.
    PhysicalUnit(u32)
);
index!(
    /// A flash page of the drive: `block * pages_per_block + offset`.
    PageId(u32)
);
index!(
    /// An erase block of the drive: `plane * blocks_per_plane + offset`.
    BlockId(u32)
);
index!(
    /// A plane of the drive: `die * planes_per_die + offset`.
    PlaneId(u32)
);
index!(
    /// A die (ONFI: logical unit) of the drive: `(channel * chips_per_channel + chip) * dies_per_chip + offset`.
    DieId(u32)
);
index!(
    /// A channel of the drive.
    ChannelId(u32)
);
index!(
    /// A translation page: the map's entries of a fixed number of consecutive logical units.
    TranslationPage(u32)
);
index!(
    /// A logical block of a plane: as many of its logical units as a block of flash holds, in the order of addresses.
    LogicalBlock(u32)
);
index!(
    /// A transaction in the controller's slab.
    TxnId(u32)
);
index!(
    /// A host request in the host's slab.
    RequestId(u32)
);
index!(
    /// A job or a relocation, in the drive's table of its kind.
    JobId(u32)
);
