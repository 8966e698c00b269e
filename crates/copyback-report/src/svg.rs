//! Colours and elements of SVG that drawings share.

use copyback_workload::printable::printable;
use std::fmt;

/// A colour: red, green and blue, a byte each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Colour(u32);

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:06x}", self.0)
    }
}

impl fmt::UpperHex for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:06X}", self.0)
    }
}

// Colours that colour-blind readers can distinguish, by Okabe and Ito (2008).
/// Red-orange.
pub const VERMILION: Colour = Colour(0xd5_5e_00);
/// Dark blue.
pub const BLUE: Colour = Colour(0x00_72_b2);
/// Reddish purple.
pub const PURPLE: Colour = Colour(0xcc_79_a7);
/// Bluish green.
pub const GREEN: Colour = Colour(0x00_9e_73);
/// Yellow-orange.
pub const ORANGE: Colour = Colour(0xe6_9f_00);
/// Light blue.
pub const SKY: Colour = Colour(0x56_b4_e9);
/// Black.
pub const BLACK: Colour = Colour(0);

/// A grey that shows on white and on black.
pub const GREY: Colour = Colour(0x7b_83_8c);
/// A dark grey.
pub const DARK_GREY: Colour = Colour(0x66_66_66);
/// A light grey.
pub const LIGHT_GREY: Colour = Colour(0x99_99_99);
/// Texts and axes on white.
pub const INK: Colour = Colour(0x33_33_33);
/// Lines behind data on white.
pub const PALE: Colour = Colour(0xdd_dd_dd);
/// Texts and axes that show on white and on black.
pub const INK_ON_ANY: Colour = Colour(0x75_80_8b);

/// Requests of the host; reads, if writes are drawn apart.
pub const HOST: Colour = BLUE;
/// Writes of the host, if they are drawn apart from reads.
pub const HOST_WRITES: Colour = GREEN;
/// Garbage collection.
pub const GC: Colour = VERMILION;
/// Other work than that of the host and of collections.
pub const OTHER_WORK: Colour = DARK_GREY;

/// A white background.
pub const BACKGROUND: &str = "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";

/// The end of a picture.
pub const END: &str = "</svg>\n";

/// The start of a picture that scales with its page, with a proportional font of this size. Its description follows.
pub fn scalable((width, height): (f64, f64), font_px: u32, ink: Colour, description: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\" \
         font-size=\"{font_px}\" fill=\"{ink}\">\n<title>{}</title>\n",
        escaped(description)
    )
}

/// The start of a picture of this size, with letters of one width.
pub fn fixed((width, height): (f64, f64)) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"monospace\" font-size=\"12\">\n"
    )
}

/// The heading of a picture, with its base line at `y`.
pub fn heading(text: &str, y: u32) -> String {
    format!("<text x=\"8\" y=\"{y}\" font-size=\"14\" font-weight=\"600\">{}</text>\n", escaped(text))
}

/// A bold name at the left border.
pub fn name(text: &str, y: f64) -> String {
    format!("<text x=\"8\" y=\"{y:.1}\" font-weight=\"600\">{}</text>\n", escaped(text))
}

/// A label at the left border.
pub fn label(text: &str, y: f64, colour: Colour) -> String {
    format!("<text x=\"8\" y=\"{y:.1}\" fill=\"{colour}\">{}</text>\n", escaped(text))
}

/// Words in a colour, within a text.
pub fn coloured(text: &str, colour: Colour) -> String {
    format!("<tspan fill=\"{colour}\">{text}</tspan>")
}

/// A text of a page or a picture, in which no character begins or ends an element.
pub fn escaped(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_six_digits_in_either_case() {
        assert_eq!((BLUE.to_string().as_str(), format!("{BLUE:X}").as_str()), ("#0072b2", "#0072B2"));
    }

    #[test]
    fn a_text_ends_no_element() {
        let begun = scalable((10.4, 20.0), 12, INK, "a<b & c>d\u{7}");
        assert!(begun.ends_with("<title>a&lt;b &amp; c&gt;d\\u0007</title>\n"), "{begun}");
        assert!(begun.contains("viewBox=\"0 0 10 20\""), "{begun}");
    }
}
