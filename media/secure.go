package media

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/callboard/callboard/media/sdp"
	"github.com/callboard/callboard/media/srtp"
)

// secrecy is the keys of a session. Keys go into descriptions and nowhere else.
type secrecy struct {
	privacy sdp.Privacy
	offered []srtp.Attribute // by our last offer
	ours    srtp.Attribute   // what we send is encrypted with it
	theirs  srtp.Key
	out     *srtp.Stream // nil: in the clear
	in      srtp.Opener
	renew   bool
}

// newSecrecy says what may be agreed on.
func newSecrecy(o *Options) secrecy {
	if !o.Confidential && !o.KeysInClear {
		return secrecy{privacy: sdp.Clear}
	}
	return secrecy{privacy: sdp.Privacy(o.SRTP)}
}

// Rekey makes the next Offer name a new key for what we send. The far end answers with one of its own, or keeps its.
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
	case k.offered == nil:
		for i, suite := range [...]srtp.Suite{srtp.AESCM128SHA80, srtp.AESGCM128, srtp.AESCM128SHA32} {
			k.offered = append(k.offered, srtp.Attribute{Tag: i + 1, Key: srtp.NewKey(suite)})
		}
	}
	return k.offered
}

// settleKeys takes what was agreed. As answerer we keep our key though they change theirs: ours would be heard before our
// answer is.
func (s *Session) settleKeys(a *sdp.Agreed) error {
	k := &s.keys
	if !a.Secure {
		k.out, k.ours, k.theirs, k.renew = nil, srtp.Attribute{}, srtp.Key{}, false
		k.in.Clear()
		return nil
	}
	ours := k.ours
	if a.Offered {
		if ours.Key.Suite != a.Key.Key.Suite {
			ours.Key = srtp.NewKey(a.Key.Key.Suite)
		}
		ours.Tag = a.Key.Tag
	} else {
		for _, c := range k.offered {
			if c.Tag == a.Key.Tag {
				ours = c
			}
		}
		k.renew = false
	}
	if ours.Key == a.Key.Key {
		return errors.New("media: our own key was handed back") // one key must not encrypt both ways (RFC 3711 section 9.1)
	}
	if k.out != nil && (ours.Key != k.ours.Key || k.theirs != a.Key.Key) && k.out.Turns(s.out.ssrc) > 0 {
		s.out.ssrc = random() // whether the turns of a sequence outlive a change of keys is read both ways; a new source has none
	}
	if k.out == nil || ours.Key != k.ours.Key {
		out, err := srtp.NewStream(ours.Key)
		if err != nil {
			return fmt.Errorf("media: our key: %w", err)
		}
		k.out = out
	}
	k.ours = ours
	if !k.in.Set() || k.theirs != a.Key.Key {
		if err := k.in.Renew(a.Key.Key); err != nil {
			return fmt.Errorf("media: their key: %w", err)
		}
		k.theirs = a.Key.Key
	}
	return nil
}

// seal encrypts a packet where keys were agreed; false: it must not be sent.
func (s *Session) seal(b []byte) ([]byte, bool) {
	if s.keys.out == nil {
		return b, true
	}
	sealed, err := s.keys.out.Protect(b)
	return sealed, err == nil
}

// unseal takes reports off the sound's socket, and decrypts sound where keys were agreed; false: there is nothing to hear.
// Whoever cannot be heard anyway costs no decryption.
func (s *Session) unseal(data []byte, from netip.AddrPort, arrived int64) ([]byte, bool) {
	if s.desc.agreed.Mux && len(data) > 1 && data[1] >= 192 && data[1] <= 223 {
		s.reported(data, from, arrived, s.engine.now())
		return nil, false
	}
	if s.keys.out == nil {
		return data, true
	}
	if s.in.locked.IsValid() && from != s.in.locked {
		s.in.refused++
		return nil, false
	}
	opened, err := s.keys.in.Open(data)
	if err != nil {
		s.in.refused++
	}
	return opened, err == nil
}
