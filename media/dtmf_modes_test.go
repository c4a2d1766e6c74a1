package media_test

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
)

var (
	regexpCrypto = regexp.MustCompile(`a=crypto:[^\r]*`)
	loopbackNet  = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
)

// freeUDP returns an even UDP port that is unused and whose odd successor is unused too.
func freeUDP(t *testing.T) int {
	t.Helper()
	for {
		conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(t, err)
		port := conn.LocalAddr().(*net.UDPAddr).Port
		require.NoError(t, conn.Close())
		if port%2 == 0 {
			return port
		}
	}
}

func TestDigitsAreSentAndReceivedInEveryDTMFMode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		a, b         media.DTMFMode
		heard, asked string
	}{
		{"events", media.DTMFAuto, media.DTMFAuto, "159#D", ""},
		{"events only", media.DTMFRFC4733, media.DTMFAuto, "159#D", ""},
		{"tones, because the caller offers no events", media.DTMFInband, media.DTMFAuto, "159#D", ""},
		{"tones, because the callee accepts no events", media.DTMFAuto, media.DTMFInband, "159#D", ""},
		{"INFO through the owner", media.DTMFInfo, media.DTMFAuto, "", "159#D"},
		{"no tones for a peer of events only", media.DTMFInband, media.DTMFRFC4733, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var reportedA, reportedB eventLog
			sa := open(t, engine(t), media.Options{DTMF: c.a, Notify: reportedA.notify})
			sb := open(t, engine(t), media.Options{DTMF: c.b, Notify: reportedB.notify})
			run := driveClocks(sa, sb)
			connect(t, sa, sb)
			sa.SendDigits(3, "159#D")
			run(3 * time.Second)
			eventually(t, "sent", reportedA.has(func(e media.Event) bool { return e == media.DigitsSent{ID: 3} }))
			var asked []byte
			for _, e := range reportedA.all() {
				if info, ok := e.(media.SendInfo); ok {
					assert.Equal(t, "application/dtmf-relay", info.ContentType)
					rest, _ := strings.CutPrefix(string(info.Body), "Signal=")
					asked = append(asked, rest[0])
				}
			}
			assert.Equal(t, c.asked, string(asked))
			run(time.Second) // time for a wrong second report
			assert.Equal(t, c.heard, reportedB.keys())
		})
	}
}

func TestDigitsByINFONeedNoAudioPath(t *testing.T) {
	t.Parallel()
	var reported eventLog
	s := open(t, engine(t), media.Options{DTMF: media.DTMFInfo, Notify: reported.notify})
	_, err := s.Answer(describe("10.1.2.3", 5000, ""))
	require.NoError(t, err)
	s.Begin()
	s.SendDigits(3, "59")
	eventually(t, "sent", reported.has(func(e media.Event) bool { return e == media.DigitsSent{ID: 3} }))
	asked := 0
	for _, e := range reported.all() {
		if _, is := e.(media.SendInfo); is {
			asked++
		}
	}
	assert.Equal(t, 2, asked)
}

func TestDigitOfTwoTransportsIsReportedOnce(t *testing.T) {
	t.Parallel()
	var reportedA, reportedB eventLog
	sa := open(t, engine(t), media.Options{Notify: reportedA.notify})
	sb := open(t, engine(t), media.Options{Notify: reportedB.notify})
	connect(t, sa, sb)
	sb.ReceiveInfoDigit('1', 100*time.Millisecond) // the INFO arrives before the event
	sa.SendDigits(1, "1122")
	eventually(t, "heard", func() bool { return len(reportedB.keys()) >= 4 })
	for range 3 {
		sb.ReceiveInfoDigit('2', 0)
	}
	sb.ReceiveInfoDigit('9', 0)
	eventually(t, "reported", func() bool { return strings.HasSuffix(reportedB.keys(), "9") })
	assert.Equal(t, "112229", reportedB.keys(), "the third INFO of a 2 is a separate press")
}

// wideEvents returns the SDP of a peer whose telephone events have a clock of 16 kHz.
func wideEvents(p *peer) []byte {
	return []byte(strings.ReplaceAll(string(p.sdp("")), "telephone-event/8000", "telephone-event/16000"))
}

func TestEventDurationUsesClockRateOfPayloadType(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	var reported eventLog
	s := open(t, engine(t), media.Options{Notify: reported.notify})
	answer, err := s.Answer(wideEvents(p))
	require.NoError(t, err)
	assert.Contains(t, string(answer), "a=rtpmap:101 telephone-event/16000")
	s.SendDigits(1, "7")
	eventually(t, "sent", reported.has(func(e media.Event) bool { return e == media.DigitsSent{ID: 1} }))
	eventually(t, "1600 units are 100 ms", func() bool {
		for _, packet := range p.heard() {
			if packet.PayloadType == 101 && packet.Payload[1]&0x80 != 0 && int(packet.Payload[2])<<8|int(packet.Payload[3]) == 1600 {
				return true
			}
		}
		return false
	})
	p.event(t, s.LocalPort(), 101, 7, 0, false)
	p.event(t, s.LocalPort(), 101, 7, 1600, false)
	p.event(t, s.LocalPort(), 101, 7, 3200, true)
	eventually(t, "200 ms", func() bool {
		return slices.Contains(reported.all(), media.Event(media.Digit{Key: '7', Duration: 200 * time.Millisecond}))
	})
}
