//! Visible colours: a controller's colour, made darker or lighter if it is too close to the page's background.
//!
//! Contrast is that of WCAG 2.2: (L1 + 0.05) / (L2 + 0.05), with L the relative luminance of the lighter and of the darker
//! colour. Its success criterion 1.4.11 requires 3:1 between a graphical object and adjacent colours.

/// Background of curves, light and dark: `--available` in `page.css`, the area under throughput, which has less contrast to
/// the curves than the page's own background.
const GROUND: [[f64; 3]; 2] = [[236.0, 239.0, 243.0], [32.0, 37.0, 45.0]];
/// A little above 3, because the result is rounded.
const LEAST: f64 = 3.05;
/// Steps from a colour to black or white.
const STEPS: u32 = 100;

/// A CSS colour for `hex`, which is `#rrggbb`, that is visible on the light page and on the dark one.
pub fn visible(hex: &str) -> String {
    let colour = channels(hex);
    let [light, dark] =
        [(GROUND[0], 0.0), (GROUND[1], 255.0)].map(|(ground, end)| written(until_seen(colour, ground, end)));
    format!("light-dark({light},{dark})")
}

/// Moves `colour` towards `end`, black or white, until it is visible on `ground`.
fn until_seen(colour: [f64; 3], ground: [f64; 3], end: f64) -> [f64; 3] {
    let moved = |step: u32| colour.map(|channel| channel + (end - channel) * f64::from(step) / f64::from(STEPS));
    (0..=STEPS).map(moved).find(|colour| contrast(*colour, ground) >= LEAST).unwrap_or([end; 3])
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(colour: [f64; 3]) -> f64 {
    let linear = colour.map(|channel| match channel / 255.0 {
        low if low <= 0.04045 => low / 12.92,
        high => ((high + 0.055) / 1.055).powf(2.4),
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn channels(hex: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| f64::from(hex.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).unwrap_or(0)))
}

fn written(colour: [f64; 3]) -> String {
    let [red, green, blue] = colour.map(|channel| channel.round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Black on white is 21:1; #767676 on white is 4.54:1, the grey that WCAG's texts name as the lightest that passes 4.5.
    #[test]
    fn contrast_matches_wcag() {
        assert!((contrast([0.0; 3], [255.0; 3]) - 21.0).abs() < 1e-9);
        assert!((contrast(channels("#767676"), [255.0; 3]) - 4.54).abs() < 0.005);
    }

    #[test]
    fn adjusts_only_invisible_colours() {
        assert_eq!(visible("#d55e00"), "light-dark(#d55e00,#d55e00)");
        assert!(visible("#f0e442").starts_with("light-dark(#") && visible("#f0e442").ends_with(",#f0e442)"));
        for colour in ["#ffffff", "#000000", "#f0e442", "#14171c", "#56b4e9", "#999999"] {
            let moved = visible(colour);
            let (light, dark) = moved["light-dark(".len()..].trim_end_matches(')').split_once(',').unwrap();
            assert!(contrast(channels(light), GROUND[0]) >= 3.0, "{colour} became {moved}");
            assert!(contrast(channels(dark), GROUND[1]) >= 3.0, "{colour} became {moved}");
        }
    }
}
