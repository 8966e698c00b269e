//! The page: its parts and the data in one text.

use crate::svg;
use copyback_workload::printable::printable;
use serde_json::Value;

const FRAME: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/page.css");
const LIBRARY: &str = include_str!("assets/echarts/echarts.min.js");
/// In the order in which they need each other.
const SCRIPTS: [&str; 6] = [
    include_str!("assets/elements.js"),
    include_str!("assets/charts.js"),
    include_str!("assets/runs.js"),
    include_str!("assets/over_time.js"),
    include_str!("assets/tables.js"),
    include_str!("assets/main.js"),
];

/// The page of some data.
pub fn html(title: &str, data: &Value) -> String {
    let scripts = SCRIPTS.concat();
    let title = svg::escaped(title);
    let parts =
        [("TITLE", &*title), ("STYLE", STYLE), ("DATA", &escaped(data)), ("LIBRARY", LIBRARY), ("SCRIPT", &scripts)];
    let mut rest = FRAME;
    let mut html = String::with_capacity(parts.iter().map(|(_, part)| part.len()).sum::<usize>() + FRAME.len());
    for (name, part) in parts {
        let (before, behind) = rest.split_once(&format!("{{{{{name}}}}}")).unwrap_or((rest, ""));
        html.push_str(before);
        html.push_str(part);
        rest = behind;
    }
    html + rest
}

/// JSON for a page: it neither ends the element that contains it nor begins another, and it has only characters that a
/// page may have.
fn escaped(data: &Value) -> String {
    printable(&data.to_string()).replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_data_is_whole_and_ends_no_element() {
        let data = json!({ "scheme": "</script><script>alert(1)</script><!-- {{SCRIPT}} \u{2028}" });
        let html = html("a </title> & {{DATA}}", &data);
        assert!(html.contains("<title>a &lt;/title&gt; &amp; {{DATA}} - Copyback</title>"));
        let (_, behind) = html.split_once("id=\"data\">").expect("the data has its element");
        let (text, _) = behind.split_once("</script>").expect("which ends");
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), data);
        for part in [STYLE, LIBRARY, SCRIPTS[5]] {
            assert!(html.contains(part));
        }
        assert!(!STYLE.contains("</style") && !LIBRARY.contains("</script") && !SCRIPTS.concat().contains("</script"));
    }
}
