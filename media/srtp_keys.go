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
	keyPackets     = 1 << 20          // audio packets under one key; RFC 3711 §9.2 allows more
	wornEvery      = 10 * time.Minute // between two RekeyDue events for the same key
	switchWithin   = 2 * time.Second  // after this time our answer has arrived, if at all
)

// srtpKeys are the SRTP keys of a session (RFC 3711, RFC 4568). Keys are written into SDP only.
//
// The packet index of a key never restarts, because that would reuse the keystream. The stream of a key is kept while the
// key is in use or an answer may still select it. After the session has continued unencrypted, its used keys are not
// offered again.
type srtpKeys struct {
	privacy sdp.Privacy
	renew   bool
	spent   bool             // a used key was offered and is not in use now, so the next offer gets new keys
	offered []srtp.Attribute // keys of our last offer
	ours    srtp.Attribute   // key in our SDP; it encrypts our packets, or will do so
	theirs  srtp.Key
	out     *srtp.Stream // nil: not encrypted
	// next replaces out once the peer has our answer. A packet with the peer's new key shows that, or switchWithin passes.
	next   *srtp.Stream
	nextBy time.Duration
	used   []usedKey
	in     srtp.Opener
	life   time.Duration
	since  time.Duration // when the current key came into use
	sealed uint64        // packets encrypted with the current key
	wornAt time.Duration // when RekeyDue was reported; zero: never
}

// usedKey is a key with which we encrypt, and its stream, which holds the packet index.
type usedKey struct {
	key    srtp.Key
	stream *srtp.Stream
}

// newSRTPKeys returns the key state of a new session. It allows SRTP only if the signalling is encrypted or KeysInClear
// is set.
func newSRTPKeys(o *Options) srtpKeys {
	if !o.Confidential && !o.KeysInClear {
		return srtpKeys{privacy: sdp.Clear}
	}
	return srtpKeys{privacy: sdp.Privacy(o.SRTP), life: o.KeyLife}
}

// Rekey puts a new key for our packets into the next Offer. The owner calls it after RekeyDue. The peer answers
// with a new key or keeps its own. Rekey does nothing without SRTP.
func (s *Session) Rekey() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.srtp.renew = true
}

// offer returns the keys for an SDP offer. If the session uses SRTP, that is the current key, so that the offer changes
// no key, or a new key after Rekey.
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

// setAgreed applies the negotiated keys. If we answer an offer with a new key of the peer, our key changes too. Our
// packets use it only later, because they could overtake our answer. known: the peer's address is unchanged.
func (k *srtpKeys) setAgreed(a *sdp.Agreed, known bool, now time.Duration, o *sender) error {
	if !a.Secure {
		k.spent = k.spent || k.out != nil
		k.out, k.next, k.ours, k.theirs, k.renew = nil, nil, srtp.Attribute{}, srtp.Key{}, false
		k.in.Clear()
		return nil
	}
	changed := k.in.HasKey() && k.theirs != a.Key.Key
	ours := k.agreedKey(a, changed)
	if ours.Key == a.Key.Key {
		return errors.New("media: the peer's SDP contains our own SRTP key") // one key must not encrypt both ways (RFC 3711 §9.1)
	}
	out, err := k.stream(ours.Key)
	if err != nil {
		return fmt.Errorf("media: set our SRTP key: %w", err)
	}
	if err = k.in.Renew(a.Key.Key); err != nil {
		return fmt.Errorf("media: set the peer's SRTP key: %w", err)
	}
	k.ours, k.theirs, k.renew = ours, a.Key.Key, k.renew && a.Offered
	switch {
	case out == k.out:
		k.next = nil
		if changed {
			k.changeSource(o)
		}
	case a.Offered && k.out != nil && known: // a peer at a new address knows no earlier key of ours
		k.next, k.nextBy = out, now+switchWithin
	default:
		k.change(out, now, o)
	}
	return nil
}

// agreedKey returns the key for our packets that the negotiated SDP determines. changed: the peer has a new key.
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

// stream returns the stream for one of our keys: the existing stream if there is one, else a new stream. It drops the
// streams of other keys that no answer can select.
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

// change makes out the stream that encrypts our packets, and resets the counters for the life of its key.
func (k *srtpKeys) change(out *srtp.Stream, now time.Duration, o *sender) {
	if k.out != nil {
		k.changeSource(o)
	}
	k.out, k.next, k.since, k.sealed, k.wornAt = out, nil, now, 0, 0
}

// changeSource changes our SSRC if our sequence numbers have rolled over. Implementations differ in whether a key change
// resets the rollover counter. With a new SSRC the counter is zero in both cases.
func (k *srtpKeys) changeSource(o *sender) {
	if k.out.RolloverCounter(o.ssrc) > 0 {
		o.ssrc = randomID()
	}
}

// maintain switches to the next key when nextBy has passed. It reports RekeyDue every wornEvery if the key is used up.
func (k *srtpKeys) maintain(now time.Duration, begun bool, o *sender, events *eventList) {
	if k.next != nil && now >= k.nextBy {
		k.change(k.next, now, o)
	}
	worn := k.out != nil && k.next == nil && (now-k.since >= k.life || k.sealed >= keyPackets)
	if worn && begun && (k.wornAt == 0 || now-k.wornAt >= wornEvery) {
		k.wornAt = now
		events.add(RekeyDue{})
	}
}

// seal encrypts a packet if SRTP was agreed. It returns nil if the packet must not be sent.
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

// unseal decrypts a packet of the RTP socket if SRTP was agreed. It returns false if the packet is not audio, because it
// handles RTCP itself, or if the packet is refused. It skips decryption if the source address is not acceptable.
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
	if k.next != nil && k.in.HasNewestKeyInUse() {
		k.change(k.next, now, &s.out)
	}
	return opened, true
}
