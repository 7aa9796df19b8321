//! Stateless cookies: only a host that received one at an address can return it from there (RFC 9000, section 8.1.3).

use crate::wire::{COOKIE, Cookie, seal};
use std::net::{IpAddr, SocketAddr};

/// Validity of a cookie, in seconds.
pub const HOLDS_S: u32 = 10;
/// Lifetime of a secret. The previous one still validates cookies.
const SECRET_S: u32 = 60;

/// Creates and validates cookies.
pub struct Cookies {
    secrets: [[u8; 32]; 2],
    since_s: u32,
    draw: fn() -> [u8; 32],
}

impl Cookies {
    /// Secrets come from `draw`.
    pub fn new(now_s: u32, draw: fn() -> [u8; 32]) -> Cookies {
        Cookies { secrets: [draw(), draw()], since_s: now_s, draw }
    }

    /// The cookie of this session at this address.
    pub fn make(&mut self, from: SocketAddr, session: u64, now_s: u32) -> Cookie {
        self.rotate(now_s);
        Cookie { made_s: now_s, code: code(&self.secrets[0], from, session, now_s) }
    }

    /// Whether the cookie was created here for this session at this address, and is still valid.
    pub fn proves(&mut self, cookie: &Cookie, from: SocketAddr, session: u64, now_s: u32) -> bool {
        self.rotate(now_s);
        let age_s = now_s.checked_sub(cookie.made_s);
        let made = |secret: &[u8; 32]| {
            let parts = parts(from, session, cookie.made_s);
            seal::is_code(secret, &[&parts], &cookie.code)
        };
        age_s.is_some_and(|age_s| age_s <= HOLDS_S) && self.secrets.iter().any(made)
    }

    fn rotate(&mut self, now_s: u32) {
        if now_s.saturating_sub(self.since_s) >= SECRET_S {
            self.secrets = [(self.draw)(), self.secrets[0]];
            self.since_s = now_s;
        }
    }
}

fn parts(from: SocketAddr, session: u64, made_s: u32) -> Vec<u8> {
    let address = match from.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let mut parts = address.octets().to_vec();
    parts.extend(from.port().to_be_bytes());
    parts.extend(session.to_be_bytes());
    parts.extend(made_s.to_be_bytes());
    parts
}

fn code(secret: &[u8; 32], from: SocketAddr, session: u64, made_s: u32) -> [u8; COOKIE] {
    let whole = seal::code(secret, &[&parts(from, session, made_s)]);
    std::array::from_fn(|at| whole[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    static DRAWN: AtomicU8 = AtomicU8::new(0);

    fn drawn() -> [u8; 32] {
        [DRAWN.fetch_add(1, Ordering::Relaxed); 32]
    }

    #[test]
    fn cookie_is_valid_for_ten_seconds_address_and_session() {
        let mut cookies = Cookies::new(0, drawn);
        let from: SocketAddr = "192.0.2.1:5000".parse().unwrap();
        let cookie = cookies.make(from, 7, 55);
        assert!(cookies.proves(&cookie, from, 7, 55) && cookies.proves(&cookie, from, 7, 65));
        assert!(!cookies.proves(&cookie, from, 7, 66) && !cookies.proves(&cookie, from, 8, 60));
        for other in ["192.0.2.2:5000", "192.0.2.1:5001", "[2001:db8::1]:5000"] {
            assert!(!cookies.proves(&cookie, other.parse().unwrap(), 7, 60), "{other}");
        }
        let younger = Cookie { made_s: 60, ..cookie };
        assert!(!cookies.proves(&younger, from, 7, 61) && !cookies.proves(&Cookie::default(), from, 7, 0));
        assert!(!Cookies::new(0, drawn).proves(&cookie, from, 7, 60), "another server's secret");
    }
}
