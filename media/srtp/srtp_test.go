package srtp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/pion/rtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/mediatest"
	"github.com/callboard/callboard/media/srtp"
)

var suites = []srtp.Suite{
	srtp.AESCM128SHA80, srtp.AESCM128SHA32, srtp.AESGCM128, srtp.AESGCM256, srtp.AESCM256SHA80, srtp.AESCM256SHA32,
}

// packet returns an RTP packet with 20 ms of audio, with capacity for the bytes that encryption adds.
func packet(ssrc uint32, seq uint16) []byte {
	b := make([]byte, mediatest.RTPHeaderLen+160, 1500)
	mediatest.PutRTPHeader(b, rtp.Header{PayloadType: 8, SequenceNumber: seq, Timestamp: uint32(seq) * 160, SSRC: ssrc})
	for i := range b[mediatest.RTPHeaderLen:] {
		b[mediatest.RTPHeaderLen+i] = byte(i)
	}
	return b
}

// report returns an RTCP receiver report.
func report() []byte {
	return append(make([]byte, 0, 1500), 0x80, 201, 0, 1, 0, 0, 0, 7)
}

func stream(t testing.TB, k srtp.Key) *srtp.Stream {
	t.Helper()
	s, err := srtp.NewStream(k)
	require.NoError(t, err)
	return s
}

func protect(t testing.TB, s *srtp.Stream, b []byte) []byte {
	t.Helper()
	out, err := s.Protect(b)
	require.NoError(t, err)
	return bytes.Clone(out)
}

func TestEverySuiteEncryptsAndRefusesForgedOrReplayedPackets(t *testing.T) {
	for _, suite := range suites {
		t.Run(suite.String(), func(t *testing.T) {
			k := srtp.NewKey(suite)
			out, in := stream(t, k), stream(t, k)
			sealed := protect(t, out, packet(7, 1))
			assert.Equal(t, packet(7, 1)[:mediatest.RTPHeaderLen], sealed[:mediatest.RTPHeaderLen], "headers stay readable")
			assert.NotContains(t, string(sealed), string(packet(7, 1)[mediatest.RTPHeaderLen:mediatest.RTPHeaderLen+16]))
			assert.LessOrEqual(t, len(sealed), len(packet(7, 1))+srtp.Overhead)
			for i := range sealed {
				forged := bytes.Clone(sealed)
				forged[i] ^= 1
				_, err := in.Open(forged)
				require.ErrorIs(t, err, srtp.ErrRefused, i)
			}
			opened, err := in.Open(bytes.Clone(sealed))
			require.NoError(t, err, "what was forged has changed nothing")
			assert.Equal(t, packet(7, 1), opened)
			_, err = in.Open(bytes.Clone(sealed))
			require.ErrorIs(t, err, srtp.ErrRefused, "repeated")
			for _, short := range [][]byte{nil, sealed[:5], sealed[:12], sealed[:15]} {
				_, err = in.Open(bytes.Clone(short))
				require.ErrorIs(t, err, srtp.ErrRefused)
				_, err = in.OpenControl(bytes.Clone(short))
				require.ErrorIs(t, err, srtp.ErrRefused)
			}
			control, err := out.ProtectControl(append(report(), report()...))
			require.NoError(t, err)
			control = bytes.Clone(control)
			opened, err = in.OpenControl(bytes.Clone(control))
			require.NoError(t, err)
			assert.Equal(t, append(report(), report()...), opened)
			_, err = in.OpenControl(control)
			require.ErrorIs(t, err, srtp.ErrRefused, "repeated")
		})
	}
}

func TestRolloverIsCountedDespiteLossAroundIt(t *testing.T) {
	k := srtp.NewKey(srtp.AESCM128SHA80)
	out, in := stream(t, k), stream(t, k)
	for i := range 70000 {
		seq := uint16(30000 + i)
		sealed, err := out.Protect(packet(7, seq))
		require.NoError(t, err)
		if i%3 == 1 && seq > 64000 {
			continue
		}
		_, err = in.Open(sealed)
		require.NoError(t, err, i)
	}
	assert.Equal(t, uint32(1), in.RolloverCounter(7))
}

func TestStreamAcceptsSixteenSourcesPerKey(t *testing.T) {
	k := srtp.NewKey(srtp.AESGCM128)
	out, in := stream(t, k), stream(t, k)
	for ssrc := range uint32(16) {
		_, err := in.Open(protect(t, out, packet(ssrc, 1)))
		require.NoError(t, err)
	}
	_, err := in.Open(protect(t, out, packet(99, 1)))
	require.ErrorIs(t, err, srtp.ErrRefused)
	_, err = in.Open(protect(t, out, packet(3, 2)))
	require.NoError(t, err)
}

func TestKeyChangeLosesNoPacketAndThenRefusesOldKey(t *testing.T) {
	for _, suite := range suites {
		for name, carried := range map[string]uint32{"turns begin anew": 0, "turns go on": 1} {
			t.Run(suite.String()+" "+name, func(t *testing.T) {
				first, second := srtp.NewKey(suite), srtp.NewKey(suite)
				before, after := stream(t, first), stream(t, second)
				var in srtp.Opener
				assert.False(t, in.HasKey())
				require.NoError(t, in.Renew(first))
				for _, seq := range []uint16{65534, 65535, 0, 1} {
					_, err := in.Open(protect(t, before, packet(7, seq)))
					require.NoError(t, err)
				}
				require.NoError(t, in.Renew(second))
				opened, err := in.Open(protect(t, before, packet(7, 2)))
				require.NoError(t, err, "on its way while the key changed")
				assert.Equal(t, packet(7, 2), opened)
				_, err = in.Open(packet(7, 3))
				require.ErrorIs(t, err, srtp.ErrRefused, "in the clear")
				after.SetRolloverCounter(7, carried)
				opened, err = in.Open(protect(t, after, packet(7, 3)))
				require.NoError(t, err)
				assert.Equal(t, packet(7, 3), opened)
				_, err = in.Open(protect(t, before, packet(7, 4)))
				require.ErrorIs(t, err, srtp.ErrRefused, "the old key is over")
			})
		}
	}
}

func TestReturningKeyKeepsReplayProtection(t *testing.T) {
	for name, between := range map[string]func(*srtp.Opener){
		"after another key":  func(in *srtp.Opener) { require.NoError(t, in.Renew(srtp.NewKey(srtp.AESGCM128))) },
		"after the clear":    func(in *srtp.Opener) { in.Clear() },
		"after three others": func(in *srtp.Opener) { renewed(t, in, 3) },
		"twice in a row":     func(*srtp.Opener) {},
	} {
		t.Run(name, func(t *testing.T) {
			k := srtp.NewKey(srtp.AESCM128SHA80)
			out := stream(t, k)
			var in srtp.Opener
			require.NoError(t, in.Renew(k))
			first := protect(t, out, packet(7, 65535))
			_, err := in.Open(bytes.Clone(first))
			require.NoError(t, err)
			_, err = in.Open(protect(t, out, packet(7, 0)))
			require.NoError(t, err)
			between(&in)
			require.NoError(t, in.Renew(k))
			_, err = in.Open(first)
			require.ErrorIs(t, err, srtp.ErrRefused, "repeated")
			_, err = in.Open(protect(t, out, packet(7, 1)))
			require.NoError(t, err, "the turns of the sequence go on")
		})
	}
	var in srtp.Opener
	k := srtp.NewKey(srtp.AESCM128SHA80)
	require.NoError(t, in.Renew(k))
	renewed(t, &in, 20)
	require.ErrorIs(t, in.Renew(k), srtp.ErrKeyReused, "what it opened is forgotten")
	assert.True(t, in.HasKey())
}

func renewed(t *testing.T, in *srtp.Opener, times int) {
	t.Helper()
	for range times {
		require.NoError(t, in.Renew(srtp.NewKey(srtp.AESCM128SHA80)))
	}
}

// vector is the master key and salt of RFC 3711 §B.3, which also lists the derived session keys. The tests of package
// media check the encryption itself against ffmpeg.
const vector = "E1F97A0D3E018BE0D64FA32C06DE41390EC675AD498AFEEBB6960B3AABE6"

func TestCryptoAttributeSurvivesRoundTrip(t *testing.T) {
	raw, err := hex.DecodeString(vector)
	require.NoError(t, err)
	key := base64.StdEncoding.EncodeToString(raw)
	gcm := base64.StdEncoding.EncodeToString(raw[:28])
	for line, want := range map[string]string{
		"1 AES_CM_128_HMAC_SHA1_80 inline:" + key:                                 "1 AES_CM_128_HMAC_SHA1_80",
		"2 aes_cm_128_hmac_sha1_32 INLINE:" + key + "|2^20":                       "2 AES_CM_128_HMAC_SHA1_32",
		" 999999999  AES_CM_128_HMAC_SHA1_80  inline:" + key + "|1048576 WSH=64 ": "999999999 AES_CM_128_HMAC_SHA1_80",
		"3 AEAD_AES_128_GCM inline:" + gcm:                                        "3 AEAD_AES_128_GCM",
		"3 AEAD_AES_128_GCM inline:" + strings.TrimRight(gcm, "=") + " -x":        "3 AEAD_AES_128_GCM",
	} {
		a, err := srtp.ParseAttribute(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, a.String())
		again, err := srtp.ParseAttribute(a.Line())
		require.NoError(t, err)
		assert.Equal(t, a.Key, again.Key)
	}
	a, err := srtp.ParseAttribute("1 AES_CM_128_HMAC_SHA1_80 inline:" + key + "|2^31")
	require.NoError(t, err)
	assert.Equal(t, uint64(1)<<31, a.Lifetime)
	assert.Equal(t, "1 AES_CM_128_HMAC_SHA1_80 inline:"+key, a.Line())
	for _, suite := range append(suites, srtp.None) {
		_, err = srtp.NewStream(srtp.NewKey(suite))
		assert.Equal(t, suite == srtp.None, err != nil)
	}
	b, err := srtp.ParseAttribute("1 AES_CM_256_HMAC_SHA1_80 inline:" + base64.StdEncoding.EncodeToString(make([]byte, 46)))
	require.NoError(t, err)
	assert.Equal(t, srtp.AESCM256SHA80, b.Key.Suite)
}

func TestUnsupportedCryptoAttributeErrorHidesKey(t *testing.T) {
	key := strings.Repeat("A", 40)
	for name, line := range map[string]string{
		"empty": "", "no key": "1 AES_CM_128_HMAC_SHA1_80", "tag": "x AES_CM_128_HMAC_SHA1_80 inline:" + key, "great tag": "1000000000 AES_CM_128_HMAC_SHA1_80 inline:" + key,
		"suite": "1 F8_128_HMAC_SHA1_80 inline:" + key, "method": "1 AES_CM_128_HMAC_SHA1_80 uri:" + key, "two keys": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + ";inline:" + key,
		"short": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key[:36], "long": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + "AAAA", "no base64": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key[:39] + "!",
		"identifier": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + "|2^20|1:4", "only it": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + "|1:1",
		"lifetime": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + "|2^49", "no lifetime": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + "|0", "two": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + "|1|2",
		"in the clear": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + " UNENCRYPTED_SRTP", "unauthenticated": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + " UNAUTHENTICATED_SRTP",
		"derivation rate": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + " KDR=1", "endless": "1 AES_CM_128_HMAC_SHA1_80 inline:" + key + strings.Repeat(" WSH=64", 100),
	} {
		_, err := srtp.ParseAttribute(line)
		require.ErrorIs(t, err, srtp.ErrUnsupported, name)
		assert.NotContains(t, err.Error(), "AAAA", name)
	}
}

func TestKeyIsHiddenWhenPrinted(t *testing.T) {
	a := srtp.Attribute{Tag: 1, Key: srtp.NewKey(srtp.AESCM128SHA80)}
	secret := a.Line()[strings.Index(a.Line(), "inline:")+7:]
	raw, err := base64.StdEncoding.DecodeString(secret)
	require.NoError(t, err)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", slog.Any("attribute", a), slog.Any("key", a.Key))
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", slog.Any("attribute", a), slog.Any("key", a.Key))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		fmt.Fprintf(&log, verb+verb+verb, a, a.Key, struct{ A srtp.Attribute }{a})
	}
	text := log.String()
	for _, form := range []string{secret, string(raw[:8]), hex.EncodeToString(raw[:8]), fmt.Sprintf("%d %d %d", raw[0], raw[1], raw[2])} {
		assert.NotContains(t, text, form)
	}
}

func TestPacketAllocatesNothing(t *testing.T) {
	for _, suite := range suites {
		k := srtp.NewKey(suite)
		out := stream(t, k)
		var in srtp.Opener
		require.NoError(t, in.Renew(k))
		b, seq := packet(7, 0), uint16(0)
		once := func() {
			seq++
			mediatest.PutRTPHeader(b[:mediatest.RTPHeaderLen], rtp.Header{PayloadType: 8, SequenceNumber: seq, SSRC: 7})
			sealed, err := out.Protect(b)
			if err == nil {
				_, err = in.Open(sealed)
			}
			if err != nil {
				t.Error(err)
			}
		}
		least := math.Inf(1)
		for range 100 { // under the race detector, pools sometimes drop their content
			least = min(least, testing.AllocsPerRun(1, once))
		}
		assert.Zero(t, least, suite.String())
	}
}

func FuzzParseAttribute(f *testing.F) {
	f.Add("1 AES_CM_128_HMAC_SHA1_80 inline:" + strings.Repeat("A", 40) + "|2^20|1:4 WSH=64")
	f.Fuzz(func(t *testing.T, line string) {
		a, err := srtp.ParseAttribute(line)
		if err != nil {
			return
		}
		again, err := srtp.ParseAttribute(a.Line())
		require.NoError(t, err)
		assert.Equal(t, a.Key, again.Key)
	})
}

func FuzzOpen(f *testing.F) {
	k := srtp.NewKey(srtp.AESGCM128)
	f.Add(protect(f, stream(f, k), packet(1, 1)))
	f.Fuzz(func(_ *testing.T, b []byte) {
		for _, suite := range suites {
			var in srtp.Opener
			_ = in.Renew(srtp.NewKey(suite))
			_, _ = in.Open(bytes.Clone(b))
			_, _ = in.OpenControl(bytes.Clone(b))
			_ = in.Renew(srtp.NewKey(suite))
			_, _ = in.Open(bytes.Clone(b))
			_, _ = in.OpenControl(bytes.Clone(b))
		}
	})
}

func BenchmarkPacket(b *testing.B) {
	for _, suite := range suites {
		for _, way := range []string{"protect", "open"} {
			b.Run(suite.String()+"/"+way, func(b *testing.B) {
				k := srtp.NewKey(suite)
				out, in := stream(b, k), stream(b, k)
				buf, seq := packet(7, 0), uint16(0)
				b.ReportAllocs()
				b.ResetTimer()
				for b.Loop() {
					seq++
					mediatest.PutRTPHeader(buf[:mediatest.RTPHeaderLen], rtp.Header{PayloadType: 8, SequenceNumber: seq, SSRC: 7})
					if way == "protect" {
						_, _ = out.Protect(buf)
						continue
					}
					b.StopTimer()
					sealed, _ := out.Protect(buf)
					b.StartTimer()
					if _, err := in.Open(sealed); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
