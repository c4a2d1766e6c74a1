package media

import "time"

// Pressed takes a key that the far end told by INFO. It is told as a Digit, unless the same key press came by the sound
// or by a telephone event already.
func (s *Session) Pressed(key byte, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.events = append(s.events, Digit{Key: key, Duration: d})
}
