package media

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/callboard/callboard/media/sdp"
	"github.com/callboard/callboard/media/srtp"
)

const (
	defaultKeyLife = time.Hour
	keyPackets     = 1 << 20          // of sound, under one key; RFC 3711 section 9.2 allows more, but none needs them
	wornEvery      = 10 * time.Minute // between two tellings of one worn key
	switchWithin   = 2 * time.Second  // our answer has arrived by then, if it ever does
)

// secrecy is the keys of a session. Keys go into descriptions and nowhere else.
//
// No key of ours ever begins anew: its stream is kept as long as an answer may name it, and one that was in use is not
// offered again once the session went on in the clear.
type secrecy struct {
	privacy sdp.Privacy
	renew   bool
	spent   bool             // of those offered, some were in use and are no more: the next offer has new ones
	offered []srtp.Attribute // by our last offer
	ours    srtp.Attribute   // in our descriptions; what we send is encrypted with it, or will be
	theirs  srtp.Key
	out     *srtp.Stream // nil: in the clear
	// next takes the place of out once the far end has our answer: it is heard under its own new key, or time is up.
	next   *srtp.Stream
	nextBy time.Duration
	used   []spoken
	in     srtp.Opener
	life   time.Duration
	since  time.Duration // that the key is in use
	sealed uint64        // packets under it
	told   time.Duration // that it is worn; zero: not yet
}

// spoken is a key of ours and the stream that it encrypts.
type spoken struct {
	key    srtp.Key
	stream *srtp.Stream
}

// newSecrecy says what may be agreed on.
func newSecrecy(o *Options) secrecy {
	if !o.Confidential && !o.KeysInClear {
		return secrecy{privacy: sdp.Clear}
	}
	return secrecy{privacy: sdp.Privacy(o.SRTP), life: o.KeyLife}
}

// Rekey makes the next Offer name a new key for what we send, as the owner wants after KeyWorn. The far end answers with a
// new one of its own, or keeps its. It does nothing where sound goes in the clear.
func (s *Session) Rekey() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys.renew = true
}

// offer lists the keys of an offer: first all suites of ours, then the one in use, so that a later offer changes nothing.
func (k *secrecy) offer() []srtp.Attribute {
	switch {
	case k.privacy == sdp.Clear:
		return nil
	case k.out != nil && k.renew:
		k.offered = []srtp.Attribute{{Tag: k.ours.Tag%2 + 1, Key: srtp.NewKey(k.ours.Key.Suite)}}
	case k.out != nil:
		k.offered = []srtp.Attribute{k.ours}
	case k.offered == nil || k.spent:
		k.offered, k.spent = nil, false
		for i, suite := range [...]srtp.Suite{srtp.AESCM128SHA80, srtp.AESGCM128, srtp.AESCM128SHA32} {
			k.offered = append(k.offered, srtp.Attribute{Tag: i + 1, Key: srtp.NewKey(suite)})
		}
	}
	return k.offered
}

// settleKeys takes what was agreed. As answerer we change our key where they change theirs; what we send changes later, for
// it would be heard before our answer is.
func (s *Session) settleKeys(a *sdp.Agreed, now time.Duration) error {
	k := &s.keys
	if !a.Secure {
		k.spent = k.spent || k.out != nil
		k.out, k.next, k.ours, k.theirs, k.renew = nil, nil, srtp.Attribute{}, srtp.Key{}, false
		k.in.Clear()
		return nil
	}
	ours, changed := k.ours, k.in.Set() && k.theirs != a.Key.Key
	if a.Offered {
		if ours.Key.Suite != a.Key.Key.Suite || changed {
			ours.Key = srtp.NewKey(a.Key.Key.Suite)
		}
		ours.Tag = a.Key.Tag
	} else {
		for _, c := range k.offered {
			if c.Tag == a.Key.Tag {
				ours = c
			}
		}
	}
	if ours.Key == a.Key.Key {
		return errors.New("media: our own key was handed back") // one key must not encrypt both ways (RFC 3711 section 9.1)
	}
	out, err := k.stream(ours.Key)
	if err != nil {
		return fmt.Errorf("media: our key: %w", err)
	}
	if err = k.in.Renew(a.Key.Key); err != nil {
		return fmt.Errorf("media: their key: %w", err)
	}
	k.ours, k.theirs, k.renew = ours, a.Key.Key, k.renew && a.Offered
	switch {
	case out == k.out:
		k.next = nil
		if changed {
			s.turned()
		}
	case a.Offered && k.out != nil && a.Remote == s.in.source.described: // whoever takes another's place knows no earlier key of ours
		k.next, k.nextBy = out, now+switchWithin
	default:
		s.encrypt(out, now)
	}
	return nil
}

// stream is that of a key of ours, new or as it was left. Keys that can be named no more are forgotten.
func (k *secrecy) stream(key srtp.Key) (*srtp.Stream, error) {
	k.used = slices.DeleteFunc(k.used, func(u spoken) bool {
		offered := slices.ContainsFunc(k.offered, func(a srtp.Attribute) bool { return a.Key == u.key })
		return !offered && u.key != k.ours.Key && u.key != key
	})
	for _, u := range k.used {
		if u.key == key {
			return u.stream, nil
		}
	}
	out, err := srtp.NewStream(key)
	if err != nil {
		return nil, err
	}
	k.used = append(k.used, spoken{key, out})
	return out, nil
}

// encrypt goes on under another key.
func (s *Session) encrypt(out *srtp.Stream, now time.Duration) {
	k := &s.keys
	if k.out != nil {
		s.turned()
	}
	k.out, k.next, k.since, k.sealed, k.told = out, nil, now, 0, 0
}

// turned begins another source where the sequence has turned over: whether the turns outlive a change of keys is read both
// ways, and a new source has none.
func (s *Session) turned() {
	if s.keys.out.Turns(s.out.ssrc) > 0 {
		s.out.ssrc = random()
	}
}

// mindKeys changes to the next key when it is time, and tells once in a while that the one in use is worn.
func (s *Session) mindKeys(now time.Duration) {
	k := &s.keys
	if k.next != nil && now >= k.nextBy {
		s.encrypt(k.next, now)
	}
	worn := k.out != nil && k.next == nil && (now-k.since >= k.life || k.sealed >= keyPackets)
	if worn && s.begun && (k.told == 0 || now-k.told >= wornEvery) {
		k.told = now
		s.events = append(s.events, KeyWorn{})
	}
}

// seal encrypts a packet where keys were agreed; false: it must not be sent.
func (s *Session) seal(b []byte) ([]byte, bool) {
	if s.keys.out == nil {
		return b, true
	}
	s.keys.sealed++
	sealed, err := s.keys.out.Protect(b)
	return sealed, err == nil
}

// unseal takes reports off the sound's socket, and decrypts sound where keys were agreed; false: there is nothing to hear.
// Whoever cannot be heard anyway costs no decryption.
func (s *Session) unseal(data []byte, from netip.AddrPort, arrived int64, now time.Duration) ([]byte, bool) {
	if s.desc.agreed.Mux && len(data) > 1 && data[1] >= 192 && data[1] <= 223 {
		s.reported(data, from, arrived, now)
		return nil, false
	}
	if s.keys.out == nil {
		return data, true
	}
	if s.in.confirmed.IsValid() && from != s.in.confirmed && !s.mayLearnAnother(now) {
		s.refuse(from, otherSource)
		return nil, false
	}
	opened, err := s.keys.in.Open(data)
	if err != nil {
		s.refuse(from, notAuthentic)
		return nil, false
	}
	if s.keys.next != nil && s.keys.in.Turned() {
		s.encrypt(s.keys.next, now)
	}
	return opened, true
}
