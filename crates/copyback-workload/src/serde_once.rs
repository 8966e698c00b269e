//! Compiles the code that reads and writes configurations once for all formats.

#[doc(hidden)]
pub use erased_serde;
#[doc(hidden)]
pub use serde;
#[doc(hidden)]
pub use toml;

/// Implements `Serialize` and `Deserialize` for a type that derives both with `#[serde(remote = "Self")]`.
///
/// Every format is a type, for which the compiler would copy the code of all fields of all tables. With this macro it
/// makes one copy for writing, which passes fields to a format by dynamic dispatch, and one for reading from a
/// [`toml::Table`], which holds the data of any format. An error keeps its message, but not its position in the text.
#[macro_export]
macro_rules! serde_once {
    ($type:ty) => {
        impl $crate::serde_once::serde::Serialize for $type {
            fn serialize<S>(&self, serializer: S) -> Result<S::Ok, S::Error>
            where
                S: $crate::serde_once::serde::Serializer,
            {
                struct Fields<'a>(&'a $type);
                impl $crate::serde_once::serde::Serialize for Fields<'_> {
                    fn serialize<S>(&self, serializer: S) -> Result<S::Ok, S::Error>
                    where
                        S: $crate::serde_once::serde::Serializer,
                    {
                        <$type>::serialize(self.0, serializer)
                    }
                }
                let fields: &dyn $crate::serde_once::erased_serde::Serialize = &Fields(self);
                $crate::serde_once::erased_serde::serialize(fields, serializer)
            }
        }

        impl<'de> $crate::serde_once::serde::Deserialize<'de> for $type {
            fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
            where
                D: $crate::serde_once::serde::Deserializer<'de>,
            {
                use $crate::serde_once::serde::de::Error;
                use $crate::serde_once::toml;

                // Not generic, so that it is compiled only here.
                fn from_table(table: toml::Table) -> Result<$type, toml::de::Error> {
                    <$type>::deserialize(table)
                }
                let table = <toml::Table as $crate::serde_once::serde::Deserialize>::deserialize(deserializer)?;
                from_table(table).map_err(|error| D::Error::custom(error.message()))
            }
        }
    };
}
