//! A cursor over one line's bytes: numbers and fields, without copying.

/// The mistake in a line or a record. The reader adds the position.
#[derive(Debug)]
pub(crate) struct LineError(pub String);

/// Length of a malformed text in a message.
const SHOWN_BYTES_MAX: usize = 48;

/// Bytes of a trace as a text for messages.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(SHOWN_BYTES_MAX)];
    let text: String = String::from_utf8_lossy(cut).chars().flat_map(char::escape_debug).collect();
    if bytes.len() > cut.len() { format!("{text}…") } else { text }
}

/// The rest of a line.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Self { rest: line }
    }

    #[cold]
    fn expected(&self, what: &str) -> LineError {
        if self.rest.is_empty() {
            LineError(format!("the line ends where {what} is expected"))
        } else {
            LineError(format!("expected {what} at `{}`", shown(self.rest)))
        }
    }

    /// A whole number.
    #[inline]
    pub(crate) fn uint(&mut self, what: &str) -> Result<u64, LineError> {
        let mut value = 0_u64;
        let mut len = 0;
        for byte in self.rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            len += 1;
            // Nineteen digits always fit; only longer numbers need the check.
            if len <= 19 {
                value = value * 10 + u64::from(digit);
            } else {
                let next = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(digit)));
                value = next.ok_or_else(|| self.expected(&format!("{what} below 2^64")))?;
            }
        }
        if len == 0 {
            return Err(self.expected(what));
        }
        self.rest = &self.rest[len..];
        Ok(value)
    }

    /// A whole number of 32 bits.
    #[inline]
    pub(crate) fn uint32(&mut self, what: &str) -> Result<u32, LineError> {
        let before = *self;
        u32::try_from(self.uint(what)?).map_err(|_| before.expected(&format!("{what} below 2^32")))
    }

    /// A decimal number, times ten to the power of `places`; further decimals are cut off.
    #[inline]
    pub(crate) fn decimal(&mut self, places: u32, what: &str) -> Result<u64, LineError> {
        let before = *self;
        let mut value = self.uint(what)?;
        let mut places_left = places;
        if self.rest.first() == Some(&b'.') {
            self.rest = &self.rest[1..];
            while let Some(digit) = self.rest.first().map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit <= 9) {
                self.rest = &self.rest[1..];
                if places_left > 0 {
                    places_left -= 1;
                    let next = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(digit)));
                    value = next.ok_or_else(|| before.expected(&format!("{what} that fits 64 bits")))?;
                }
            }
        }
        value.checked_mul(10_u64.pow(places_left)).ok_or_else(|| before.expected(&format!("{what} that fits 64 bits")))
    }

    /// A number in hexadecimal, with or without `0x`.
    pub(crate) fn hex(field: &[u8], what: &str) -> Result<u64, LineError> {
        let wrong = || LineError(format!("expected {what} in hexadecimal at `{}`", shown(field)));
        let text = std::str::from_utf8(field).map_err(|_| wrong())?.trim();
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
        // `from_str_radix` accepts a sign, which no address has.
        if digits.starts_with(['+', '-']) {
            return Err(wrong());
        }
        u64::from_str_radix(digits, 16).map_err(|_| wrong())
    }

    /// One required byte.
    #[inline]
    pub(crate) fn byte(&mut self, byte: u8, what: &str) -> Result<(), LineError> {
        if self.rest.first() == Some(&byte) {
            self.rest = &self.rest[1..];
            return Ok(());
        }
        Err(self.expected(what))
    }

    /// A comma.
    #[inline]
    pub(crate) fn comma(&mut self) -> Result<(), LineError> {
        self.byte(b',', "a comma")
    }

    /// The field up to the next comma or the line's end. The comma is consumed, too.
    #[inline]
    pub(crate) fn field(&mut self) -> &'a [u8] {
        // Fields are short: a plain loop beats a vectorised search.
        let len = self.rest.iter().position(|byte| *byte == b',').unwrap_or(self.rest.len());
        let field = &self.rest[..len];
        self.rest = self.rest.get(len + 1..).unwrap_or_default();
        field
    }

    /// At least one blank.
    #[inline]
    pub(crate) fn blanks(&mut self, what: &str) -> Result<(), LineError> {
        let len = self.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if len == 0 {
            return Err(self.expected(what));
        }
        self.rest = &self.rest[len..];
        Ok(())
    }

    /// The next word between blanks; empty at the line's end.
    #[inline]
    pub(crate) fn word(&mut self) -> &'a [u8] {
        let rest = self.rest.trim_ascii_start();
        let len = rest.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
        self.rest = &rest[len..];
        &rest[..len]
    }

    /// The next word, without consuming it.
    pub(crate) fn word_ahead(&self) -> &'a [u8] {
        let mut ahead = *self;
        ahead.word()
    }

    /// The next word, parsed by `read`, which must consume all of it.
    pub(crate) fn word_as<T>(
        &mut self,
        read: impl FnOnce(&mut Cursor<'a>) -> Result<T, LineError>,
    ) -> Result<T, LineError> {
        let mut word = Cursor::new(self.word());
        let value = read(&mut word)?;
        word.end()?;
        Ok(value)
    }

    /// The line's end, after optional blanks.
    #[inline]
    pub(crate) fn end(&self) -> Result<(), LineError> {
        if self.rest.trim_ascii().is_empty() { Ok(()) } else { Err(self.expected("the line's end")) }
    }
}

/// Sectors of 512 bytes as bytes.
#[inline]
pub(crate) fn sectors_to_bytes(sectors: u64) -> Result<u64, LineError> {
    sectors.checked_mul(512).ok_or_else(|| LineError(format!("sector {sectors} does not lie below 2^64 bytes")))
}

/// A time in some unit as nanoseconds.
#[inline]
pub(crate) fn to_ns(value: u64, ns_per_unit: u64) -> Result<u64, LineError> {
    value.checked_mul(ns_per_unit).ok_or_else(|| LineError(format!("time {value} does not fit 64 bits of nanoseconds")))
}
