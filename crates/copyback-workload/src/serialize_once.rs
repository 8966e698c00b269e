//! Configurations are written in several formats, and their code is compiled for one.

#[doc(hidden)]
pub use erased_serde;
#[doc(hidden)]
pub use serde;

/// Implements `Serialize` and `Deserialize` for a type that derives both with `#[serde(remote = "Self")]`.
///
/// Every format is a type, for which the compiler makes a copy of the code that writes all fields of all tables. Here
/// it makes one copy, which hands fields to a format by dynamic dispatch. Reading stays as derived: errors of a format
/// would lose their places.
#[macro_export]
macro_rules! serialize_once {
    ($type:ty) => {
        impl $crate::serialize_once::serde::Serialize for $type {
            fn serialize<S>(&self, serializer: S) -> Result<S::Ok, S::Error>
            where
                S: $crate::serialize_once::serde::Serializer,
            {
                struct Fields<'a>(&'a $type);
                impl $crate::serialize_once::serde::Serialize for Fields<'_> {
                    fn serialize<S>(&self, serializer: S) -> Result<S::Ok, S::Error>
                    where
                        S: $crate::serialize_once::serde::Serializer,
                    {
                        <$type>::serialize(self.0, serializer)
                    }
                }
                let fields: &dyn $crate::serialize_once::erased_serde::Serialize = &Fields(self);
                $crate::serialize_once::erased_serde::serialize(fields, serializer)
            }
        }

        impl<'de> $crate::serialize_once::serde::Deserialize<'de> for $type {
            fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
            where
                D: $crate::serialize_once::serde::Deserializer<'de>,
            {
                <$type>::deserialize(deserializer)
            }
        }
    };
}
