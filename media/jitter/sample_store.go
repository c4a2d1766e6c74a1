package jitter

import "github.com/callboard/callboard/media/g711"

// fill stores samples and sets their bits in have, up to 64 bits at a time.
func (s *store) fill(timestamp uint32, mu []byte) {
	at := timestamp % ringLen
	n := copy(s.ring[at:], mu)
	copy(s.ring[:], mu[n:])
	for left := uint32(len(mu)); left > 0; { //nolint:gosec // small
		bit := at % 64
		run := min(64-bit, left)
		s.have[at/64] |= (^uint64(0) >> (64 - run)) << bit
		at = (at + run) % ringLen
		left -= run
	}
}

// putSamples stores a packet's samples and records its timestamp.
func (s *store) putSamples(timestamp uint32, mu []byte) {
	s.note(timestamp)
	s.fill(timestamp, mu)
}

// note records a packet's timestamp in place of the oldest recorded timestamp.
func (s *store) note(timestamp uint32) {
	if s.filled == 0 || int32(timestamp-s.newest) > 0 { //nolint:gosec // modular
		s.newest = timestamp
	}
	s.came[s.next] = timestamp
	s.next = (s.next + 1) % memory
	s.filled = min(s.filled+1, memory)
}

// knows says whether a packet with this timestamp arrived recently. A timestamp newer than all recorded ones did not.
// The search starts with the latest packets, because a copy usually follows its original closely.
func (s *store) knows(timestamp uint32) bool {
	if s.filled == 0 || int32(timestamp-s.newest) > 0 { //nolint:gosec // modular
		return false
	}
	for i := range s.filled {
		if s.came[(s.next-1-i+memory)%memory] == timestamp {
			return true
		}
	}
	return false
}

// takeSamples moves samples into dst, with silence for missing samples, and returns how many were present.
func (s *store) takeSamples(timestamp uint32, dst []byte) (got int) {
	at := timestamp % ringLen
	for len(dst) > 0 {
		bit := at % 64
		run := min(64-bit, uint32(len(dst))) //nolint:gosec // small
		mask := (^uint64(0) >> (64 - run)) << bit
		switch word := s.have[at/64] & mask; word {
		case mask:
			copy(dst[:run], s.ring[at:])
			got += int(run)
		case 0:
			silence(dst[:run])
		default:
			for i := range run {
				dst[i] = g711.MuSilence
				if word&(1<<(bit+i)) != 0 {
					dst[i] = s.ring[at+i]
					got++
				}
			}
		}
		s.have[at/64] &^= mask
		at = (at + run) % ringLen
		dst = dst[run:]
	}
	return got
}

// whole says whether all n samples from timestamp on are present.
func (s *store) whole(timestamp uint32, n int) bool {
	at := timestamp % ringLen
	for left := uint32(n); left > 0; { //nolint:gosec // small
		bit := at % 64
		run := min(64-bit, left)
		if mask := (^uint64(0) >> (64 - run)) << bit; s.have[at/64]&mask != mask {
			return false
		}
		at = (at + run) % ringLen
		left -= run
	}
	return true
}

// restore puts played samples back into the ring, where concealment can repeat them. They stay marked as absent.
func (s *store) restore(timestamp uint32, played []byte) {
	at := timestamp % ringLen
	n := copy(s.ring[at:], played)
	copy(s.ring[:], played[n:])
}

// silent is a frame of silence.
var silent = func() (s [longest]byte) {
	for i := range s {
		s[i] = g711.MuSilence
	}
	return s
}()

func silence(dst []byte) {
	for len(dst) > 0 {
		dst = dst[copy(dst, silent[:]):]
	}
}
