package media_test

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/mediatest"
	"github.com/callboard/callboard/media/srtp"
	"github.com/callboard/callboard/sip/siptest"
)

// keysOf returns the SRTP keys in an SDP.
func keysOf(t *testing.T, description []byte) (keys []srtp.Attribute) {
	t.Helper()
	for line := range strings.Lines(string(description)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "a=crypto:"); ok {
			a, err := srtp.ParseAttribute(value)
			require.NoError(t, err)
			keys = append(keys, a)
		}
	}
	return keys
}

// keyed returns the SDP of a peer that offers SRTP with one key.
func (p *peer) keyed(a srtp.Attribute) []byte {
	return []byte(strings.ReplaceAll(string(p.sdp("a=crypto:"+a.Line()+"\r\n")), "RTP/AVP", "RTP/SAVP"))
}

// sealed sends audio packets that a stream has encrypted, and returns them.
func (p *peer) sealed(t *testing.T, out *srtp.Stream, port, packets int) (all [][]byte) {
	t.Helper()
	for range packets {
		b := make([]byte, mediatest.RTPHeaderLen+160, 300)
		mediatest.PutRTPHeader(b, rtp.Header{SequenceNumber: p.seq, Timestamp: uint32(p.seq) * 160, SSRC: p.ssrc})
		p.seq++
		secret, err := out.Protect(b)
		require.NoError(t, err)
		all = append(all, append([]byte(nil), secret...))
		p.raw(t, port, secret)
	}
	return all
}

func (p *peer) raw(t *testing.T, port int, b []byte) {
	t.Helper()
	_, err := p.conn.WriteToUDPAddrPort(b, netip.AddrPortFrom(loopback, uint16(port)))
	require.NoError(t, err)
}

func streamOf(t *testing.T, a srtp.Attribute) *srtp.Stream {
	t.Helper()
	s, err := srtp.NewStream(a.Key)
	require.NoError(t, err)
	return s
}

var either = media.Options{SRTP: media.SRTPOptional, Confidential: true}

func TestUsedSRTPKeyIsNotOfferedAgainAfterUnencryptedMedia(t *testing.T) {
	p := newPeer(t)
	theirs := srtp.Attribute{Tag: 1, Key: srtp.NewKey(srtp.AESCM128SHA80)}
	t.Run("offered", func(t *testing.T) {
		s := open(t, engine(t), either)
		seen := map[srtp.Key]bool{}
		for range 3 {
			offered := keysOf(t, s.Offer())
			require.NotEmpty(t, offered)
			for _, a := range offered {
				assert.False(t, seen[a.Key], "the offer repeats a key from before unencrypted media")
				seen[a.Key] = true
			}
			require.NoError(t, s.Accept(p.keyed(srtp.Attribute{Tag: offered[0].Tag, Key: srtp.NewKey(offered[0].Key.Suite)})))
			require.NoError(t, s.Accept(p.sdp("")))
		}
	})
	t.Run("answered; replayed packets are refused", func(t *testing.T) {
		s := open(t, engine(t), either)
		answer, err := s.Answer(p.keyed(theirs))
		require.NoError(t, err)
		first := keysOf(t, answer)
		out := streamOf(t, theirs)
		old := p.sealed(t, out, s.LocalPort(), 5)
		eventually(t, "heard", func() bool { return s.Stats().PacketsReceived == 5 })
		_, err = s.Answer(p.sdp(""))
		require.NoError(t, err)
		answer, err = s.Answer(p.keyed(theirs))
		require.NoError(t, err)
		assert.NotEqual(t, first[0].Key, keysOf(t, answer)[0].Key)
		for _, b := range old {
			p.raw(t, s.LocalPort(), b)
		}
		eventually(t, "refused", func() bool { return s.Stats().PacketsRefused == 5 })
		p.sealed(t, out, s.LocalPort(), 3)
		eventually(t, "goes on", func() bool { return s.Stats().PacketsReceived == 8 })
	})
}

func TestEachAnsweringBranchGetsItsAgreedSRTPKey(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	s := open(t, engine(t), either)
	offered := keysOf(t, s.Offer())
	in := map[int]*srtp.Stream{}
	for _, at := range []int{0, 1, 0} {
		require.NoError(t, s.Accept(p.keyed(srtp.Attribute{Tag: offered[at].Tag, Key: srtp.NewKey(offered[at].Key.Suite)})))
		if in[at] == nil {
			in[at] = streamOf(t, offered[at])
		}
		p.forget()
		eventually(t, "packets", func() bool { return len(p.cipher()) > 4 })
		for _, b := range p.cipher()[2:] {
			_, err := in[at].Open(b)
			require.NoError(t, err, "every packet decrypts with this key and is no replay")
		}
	}
	assert.Equal(t, offered[0].Key.Suite.String(), s.Stats().SRTP)
}

func TestNewPeerSRTPKeyRenewsOurKey(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	s := open(t, engine(t), either)
	attribute := func() srtp.Attribute { return srtp.Attribute{Tag: 1, Key: srtp.NewKey(srtp.AESCM128SHA80)} }
	first := attribute()
	answer, err := s.Answer(p.keyed(first))
	require.NoError(t, err)
	before := keysOf(t, answer)[0]
	under := func(a srtp.Attribute) bool {
		p.forget()
		eventually(t, "a packet", func() bool { return len(p.cipher()) > 0 })
		_, errOpen := streamOf(t, a).Open(p.cipher()[0])
		return errOpen == nil
	}
	assert.True(t, under(before))
	p.sealed(t, streamOf(t, first), s.LocalPort(), 3)
	second := attribute()
	answer, err = s.Answer(p.keyed(second))
	require.NoError(t, err)
	after := keysOf(t, answer)[0]
	require.NotEqual(t, before.Key, after.Key)
	assert.True(t, under(before), "the peer cannot know the new key before the answer")
	p.sealed(t, streamOf(t, second), s.LocalPort(), 1)
	eventually(t, "a packet with the peer's new key shows that the peer has our answer", func() bool { return under(after) })
	// If the peer sends no audio, the session must switch to its new key two seconds after the answer.
	_, err = s.Answer(p.keyed(attribute()))
	require.NoError(t, err)
	assert.True(t, under(after))
	eventually(t, "the new key is in use after two seconds", func() bool { return !under(after) })
}

func TestKeyWornIsReportedAfterAnHourUntilRekey(t *testing.T) {
	low := siptest.MediaPorts10(t)
	synctest.Test(t, func(t *testing.T) {
		e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: low, PortMax: low + 7})
		require.NoError(t, err)
		var reported eventLog
		s, err := e.Open(media.Options{SRTP: media.SRTPRequired, Confidential: true, Notify: reported.notify, IdleAfter: 24 * time.Hour})
		require.NoError(t, err)
		turn := media.NewTurn(s)
		peerKey := srtp.Attribute{Tag: 1, Key: srtp.NewKey(srtp.AESCM128SHA80)}
		describe := func() []byte {
			return []byte(strings.ReplaceAll(string(describe("127.0.0.1", low+8, "a=crypto:"+peerKey.Line()+"\r\n")), "RTP/AVP", "RTP/SAVP"))
		}
		worn := func() (n int) {
			for _, ev := range reported.all() {
				if ev == (media.RekeyDue{}) {
					n++
				}
			}
			return n
		}
		_, err = s.Answer(describe())
		require.NoError(t, err)
		s.Begin()
		pass := func(d time.Duration) {
			for range d / time.Minute {
				time.Sleep(time.Minute)
				turn.Frame()
			}
		}
		pass(59 * time.Minute)
		assert.Zero(t, worn())
		pass(2 * time.Minute)
		assert.Equal(t, 1, worn())
		pass(10 * time.Minute)
		assert.Equal(t, 2, worn(), "KeyWorn is reported again")
		s.Rekey()
		offered := keysOf(t, s.Offer())
		require.Len(t, offered, 1)
		peerKey = srtp.Attribute{Tag: offered[0].Tag, Key: srtp.NewKey(srtp.AESCM128SHA80)}
		require.NoError(t, s.Accept(describe()))
		pass(58 * time.Minute)
		assert.Equal(t, 2, worn(), "renewed")
		pass(3 * time.Minute)
		assert.Equal(t, 3, worn())
		_, done := s.Close()
		<-done
		require.NoError(t, e.Close())
	})
}
