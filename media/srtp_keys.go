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

// srtpKeys are the SRTP keys of a session (RFC 3711, RFC 4568). Keys go into descriptions and nowhere else.
//
// No key of ours ever begins anew: its stream is kept as long as an answer may name it, and one that was in use is not
// offered again once the session went on in the clear.
type srtpKeys struct {
	privacy sdp.Privacy
	renew   bool
	spent   bool             // of those offered, some were in use and are no more: the next offer has new ones
	offered []srtp.Attribute // by our last offer
	ours    srtp.Attribute   // in our descriptions; what we send is encrypted with it, or will be
	theirs  srtp.Key
	out     *srtp.Stream // nil: in the clear
	// next takes the place of out once the peer has our answer: the peer is heard under its own new key, or time is up.
	next   *srtp.Stream
	nextBy time.Duration
	used   []usedKey
	in     srtp.Opener
	life   time.Duration
	since  time.Duration // that the key is in use
	sealed uint64        // packets under it
	wornAt time.Duration // when it was reported as worn; zero: it was not
}

// usedKey is a key of ours and the stream that it encrypts.
type usedKey struct {
	key    srtp.Key
	stream *srtp.Stream
}

// newSRTPKeys says what may be agreed on.
func newSRTPKeys(o *Options) srtpKeys {
	if !o.Confidential && !o.KeysInClear {
		return srtpKeys{privacy: sdp.Clear}
	}
	return srtpKeys{privacy: sdp.Privacy(o.SRTP), life: o.KeyLife}
}

// Rekey makes the next Offer name a new key for what we send, as the owner wants after KeyWorn. The peer answers with a
// new one of its own, or keeps its. It does nothing where sound goes in the clear.
func (s *Session) Rekey() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.srtp.renew = true
}

// offer lists the keys of an offer: first all suites of ours, then the one in use, so that a later offer changes nothing.
func (k *srtpKeys) offer() []srtp.Attribute {
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

// setAgreed takes what was agreed. As answerer we change our key where the peer changes its own; what we send changes later, for
// it would be heard before our answer is. known: packets still go to the address of before.
func (k *srtpKeys) setAgreed(a *sdp.Agreed, known bool, now time.Duration, o *sender) error {
	if !a.Secure {
		k.spent = k.spent || k.out != nil
		k.out, k.next, k.ours, k.theirs, k.renew = nil, nil, srtp.Attribute{}, srtp.Key{}, false
		k.in.Clear()
		return nil
	}
	changed := k.in.Set() && k.theirs != a.Key.Key
	ours := k.agreedKey(a, changed)
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
			k.changeSource(o)
		}
	case a.Offered && k.out != nil && known: // a peer that takes another's place knows no earlier key of ours
		k.next, k.nextBy = out, now+switchWithin
	default:
		k.change(out, now, o)
	}
	return nil
}

// agreedKey is our key of what was agreed.
func (k *srtpKeys) agreedKey(a *sdp.Agreed, changed bool) srtp.Attribute {
	ours := k.ours
	if a.Offered {
		if ours.Key.Suite != a.Key.Key.Suite || changed {
			ours.Key = srtp.NewKey(a.Key.Key.Suite)
		}
		ours.Tag = a.Key.Tag
		return ours
	}
	for _, c := range k.offered {
		if c.Tag == a.Key.Tag {
			ours = c
		}
	}
	return ours
}

// stream is that of a key of ours, new or as it was left. Keys that can be named no more are forgotten.
func (k *srtpKeys) stream(key srtp.Key) (*srtp.Stream, error) {
	k.used = slices.DeleteFunc(k.used, func(u usedKey) bool {
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
	k.used = append(k.used, usedKey{key, out})
	return out, nil
}

// change goes on under another key.
func (k *srtpKeys) change(out *srtp.Stream, now time.Duration, o *sender) {
	if k.out != nil {
		k.changeSource(o)
	}
	k.out, k.next, k.since, k.sealed, k.wornAt = out, nil, now, 0, 0
}

// changeSource begins another source where the sequence has turned over: whether the turns outlive a change of keys is read both
// ways, and a new source has none.
func (k *srtpKeys) changeSource(o *sender) {
	if k.out.Turns(o.ssrc) > 0 {
		o.ssrc = random()
	}
}

// maintain changes to the next key when it is time, and reports every wornEvery that the one in use is worn.
func (k *srtpKeys) maintain(now time.Duration, begun bool, o *sender, events *eventList) {
	if k.next != nil && now >= k.nextBy {
		k.change(k.next, now, o)
	}
	worn := k.out != nil && k.next == nil && (now-k.since >= k.life || k.sealed >= keyPackets)
	if worn && begun && (k.wornAt == 0 || now-k.wornAt >= wornEvery) {
		k.wornAt = now
		events.add(KeyWorn{})
	}
}

// seal encrypts a packet where keys were agreed; nil: it must not be sent.
func (k *srtpKeys) seal(b []byte) []byte {
	if k.out == nil {
		return b
	}
	k.sealed++
	sealed, err := k.out.Protect(b)
	if err != nil {
		return nil
	}
	return sealed
}

// unseal takes reports off the RTP socket, and decrypts audio where keys were agreed; false: there is nothing to hear. Packets
// that are not heard anyway cost no decryption.
func (s *Session) unseal(data []byte, from netip.AddrPort, arrived int64, now time.Duration) ([]byte, bool) {
	if s.desc.agreed.Mux && len(data) > 1 && data[1] >= 192 && data[1] <= 223 {
		s.receiveReport(data, from, arrived, now)
		return nil, false
	}
	k := &s.srtp
	if k.out == nil {
		return data, true
	}
	if s.in.confirmed.IsValid() && from != s.in.confirmed && !s.in.mayLearnAnother(now, s.desc.agreed.Silent) {
		s.in.refuse(from, otherSource)
		return nil, false
	}
	opened, err := k.in.Open(data)
	if err != nil {
		s.in.refuse(from, notAuthentic)
		return nil, false
	}
	if k.next != nil && k.in.Turned() {
		k.change(k.next, now, &s.out)
	}
	return opened, true
}
