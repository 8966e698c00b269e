//! Axes and their registries: one macro turns a table of policies into the configuration, the run-time enum and the
//! pages that users read.

/// One choice along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Its name in configurations.
    pub name: &'static str,
    /// The text of its source file, whose leading comment is its page.
    source: &'static str,
}

impl Choice {
    /// A choice and the source file that documents it.
    pub const fn new(name: &'static str, source: &'static str) -> Self {
        Self { name, source }
    }

    /// Its page: definition, source, parameters with units and defaults, as Markdown.
    pub fn page(&self) -> String {
        let lines = self.source.lines().take_while(|line| line.starts_with("//!"));
        lines.map(|line| line[3..].strip_prefix(' ').unwrap_or(&line[3..])).collect::<Vec<_>>().join("\n")
    }

    /// The page's first line: its subject, in one sentence.
    pub fn summary(&self) -> String {
        self.page().lines().next().unwrap_or_default().to_owned()
    }
}

/// One axis of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The table of the configuration that chooses along it.
    pub name: &'static str,
    /// The question that a choice answers.
    pub question: &'static str,
    /// The choices.
    pub choices: &'static [Choice],
}

/// Writes an axis' registry. Most axes have a macro around this one. If policies of the axis are called in a run, that
/// macro also writes the enum of these policies, and `enum_dispatch` writes the matches that pass a call on to the
/// policy. `enum_dispatch` has limits: each method of the trait has `self` and no inline attribute (all get
/// `#[inline]`), and each row has a type of its own. Its attribute stands above the rows, and the macro passes it on as
/// two tokens, `$hash $dispatch`: the names that `enum_dispatch` writes have the hygiene of the attribute, and the
/// names of the variants need the same.
///
/// This macro writes `Config` (the user's text: `policy = "name"` and that policy's parameters) and the list of its
/// pages. A row reads `"name" => module: Variant`; the module holds `Params`, with a default for each.
macro_rules! axis {
    (
        $(#[$meta:meta])*
        $config:ident, $axis:literal, $question:literal, default $default:ident,
        { $( $name:literal => $module:ident : $variant:ident ),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "policy")]
        #[allow(missing_docs)]
        pub enum $config {
            $( #[serde(rename = $name)] $variant($module::Params), )+
        }

        impl Default for $config {
            fn default() -> Self {
                Self::$default(Default::default())
            }
        }

        impl $config {
            /// The chosen policy's name.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant(_) => $name, )+ }
            }
        }

        /// The registry of this axis.
        pub const AXIS: $crate::config::Axis = $crate::config::Axis {
            name: $axis,
            question: $question,
            choices: &[ $( $crate::config::Choice::new($name, include_str!(concat!(stringify!($module), ".rs"))) ),+ ],
        };
    };
}
pub(crate) use axis;
