//! Keys that several frontiers have: those of filling pages (`fill`) and of hot and cold data (`hot_cold`).
//!
//! They are fields of each frontier's own table, because a table refuses unknown keys. `frontier_params!` writes the
//! table from the frontier's own fields and the names of the groups, in the order in which they are printed.

/// Writes a frontier's `Params`: its own fields in braces, then `hot`, `fill`, or both.
macro_rules! frontier_params {
    ({ $($fields:tt)* }) => {
        /// See the page above.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Params { $($fields)* }
    };
    ({ $($fields:tt)* } hot $($more:ident)*) => {
        crate::ftl::frontier::shared_keys::frontier_params! {
            {
                $($fields)*
                /// Length of a window.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub hot_window: Option<copyback_workload::units::Nanos>,
                /// Writes in a window that make a unit hot.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub hot_updates: Option<u8>,
            }
            $($more)*
        }

        impl Params {
            fn hot_keys(&self) -> crate::ftl::frontier::hot_cold::Keys {
                crate::ftl::frontier::hot_cold::Keys { window: self.hot_window, updates: self.hot_updates }
            }
        }
    };
    ({ $($fields:tt)* } fill $($more:ident)*) => {
        crate::ftl::frontier::shared_keys::frontier_params! {
            {
                $($fields)*
                /// How long an open page waits for more.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub fill_limit: Option<copyback_workload::units::Nanos>,
                /// The point at which a write completes that waits for its page to fill.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub fill_ends: Option<crate::ftl::frontier::fill::FillEnds>,
                /// Pages in the controller.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub fill_pages: Option<u32>,
                /// The handling of a map page for which a request waits.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub fill_awaited: Option<crate::ftl::frontier::fill::FillAwaited>,
            }
            $($more)*
        }

        impl Params {
            fn fill_keys(&self) -> crate::ftl::frontier::fill::Keys {
                crate::ftl::frontier::fill::Keys {
                    limit: self.fill_limit,
                    ends: self.fill_ends,
                    pages: self.fill_pages,
                    awaited: self.fill_awaited,
                }
            }
        }
    };
}

pub(in crate::ftl::frontier) use frontier_params;
