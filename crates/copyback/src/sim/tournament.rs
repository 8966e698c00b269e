//! The least of many keys that change: a change costs the logarithm of their number, the least is available at once.

/// A key that never wins.
pub const NEVER: u64 = u64::MAX;

/// Keys of the players `0..players`, in a tree of matches. Each match names its winner: the lesser key, of equal keys
/// the first.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// Matches, numbered from the final (1) on; of `n` keys, the first round has the numbers `n / 2..n`.
    winners: Vec<u32>,
    /// The keys; their number is a power of two.
    keys: Vec<u64>,
}

impl Tournament {
    /// A tournament of this many players; none can win yet.
    pub fn new(players: u32) -> Self {
        let places = players.next_power_of_two().max(2) as usize;
        let mut winners = vec![0; places];
        for at in (1..places).rev() {
            winners[at] = if at >= places / 2 { (2 * at - places) as u32 } else { winners[2 * at] };
        }
        Self { winners, keys: vec![NEVER; places] }
    }

    /// Gives a player another key.
    #[inline]
    pub fn set(&mut self, player: u32, key: u64) {
        if self.keys[player as usize] == key {
            return;
        }
        self.keys[player as usize] = key;
        let mut at = (self.keys.len() + player as usize) / 2;
        let players = player & !1;
        self.winners[at] = self.winner_of(players, players + 1);
        while at > 1 {
            at /= 2;
            self.winners[at] = self.winner_of(self.winners[2 * at], self.winners[2 * at + 1]);
        }
    }

    #[inline(always)]
    fn winner_of(&self, first: u32, second: u32) -> u32 {
        if self.keys[second as usize] < self.keys[first as usize] { second } else { first }
    }

    /// The key of a player.
    #[inline]
    pub fn key(&self, player: u32) -> u64 {
        self.keys[player as usize]
    }

    /// The player with the least key, if any can win.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        let first = self.winners[1];
        (self.keys[first as usize] != NEVER).then_some(first)
    }

    /// Of the players with the least key, the first from `start` on, then round from player 0.
    #[inline]
    pub fn first_from(&self, start: u32) -> Option<u32> {
        let first = self.first()?;
        if first >= start {
            return Some(first);
        }
        let least = self.keys[first as usize];
        let has_least = |player: u32| self.keys[player as usize] == least;
        if let Some(player) = [start, start | 1].into_iter().find(|&player| has_least(player)) {
            return Some(player);
        }
        // A match names the first of equal players, so the first match to the right whose winner has the key names it.
        let mut at = (self.keys.len() + start as usize) / 2;
        while at > 1 {
            if at.is_multiple_of(2) && has_least(self.winners[at + 1]) {
                return Some(self.winners[at + 1]);
            }
            at /= 2;
        }
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback_workload::rng;
    use rand::RngExt;

    /// Against a plain list, for numbers of players that are powers of two and that are not.
    #[test]
    fn the_first_is_that_of_a_plain_list() {
        let mut stream = rng::stream(1, "test.tournament");
        for players in [1, 2, 3, 5, 8, 33] {
            let (mut tournament, mut keys) = (Tournament::new(players), vec![NEVER; players as usize]);
            for _ in 0..2_000 {
                let least = (0..players).filter(|&p| keys[p as usize] < NEVER).min_by_key(|&p| keys[p as usize]);
                assert_eq!(tournament.first(), least, "{keys:?}");
                let start = stream.random_range(0..players);
                let in_turn = (start..players).chain(0..start).filter(|&p| keys[p as usize] < NEVER);
                let least = in_turn.min_by_key(|&p| keys[p as usize]);
                assert_eq!(tournament.first_from(start), least, "{keys:?} from {start}");
                let player = stream.random_range(0..players);
                let key = if stream.random_bool(0.3) { NEVER } else { stream.random_range(0..9) };
                keys[player as usize] = key;
                tournament.set(player, key);
            }
        }
    }
}
