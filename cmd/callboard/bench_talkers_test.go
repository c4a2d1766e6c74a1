package main_test

import (
	"bufio"
	"context"
	wire "encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/vad"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/transport"
)

// benchTalkers makes this test binary callers that take their turns: "PORT WORDS", where WORDS is a file of what each of
// them says each time the agent falls silent.
const benchTalkers = "CALLBOARD_BENCH_TALKERS"

const (
	talkerFrame  = 20 * time.Millisecond
	audible      = -45.0                   // dB; the agent's packets above it are speech
	pausing      = 700 * time.Millisecond  // so long after the agent's last sound a talker speaks
	interrupting = 1500 * time.Millisecond // or so long after its first sound
	unanswered   = 8 * time.Second         // after which he speaks again
)

// turnReport is what the talkers measured since "watch": from their last packet of speech to the first of the answer that
// can be heard, by the kernel's time stamps.
type turnReport struct {
	Phones, Turns, Lost  int
	P50Ms, P95Ms, MostMs float64
}

// chorus are the talkers.
type chorus struct {
	words      []byte // µ-law
	interrupts atomic.Bool
	mu         sync.Mutex
	phones     int
	gaps       []float64 // in milliseconds
	lost       int
}

// speakAsTalkers runs them until the input ends.
func speakAsTalkers(order string) {
	port, path, _ := strings.Cut(order, " ")
	local := netip.MustParseAddr("127.0.0.1")
	sound, err := wav.ReadFile(path, 10<<20)
	if err != nil {
		panic(err)
	}
	words, err := sound.Mu()
	if err != nil {
		panic(err)
	}
	c := &chorus{words: words}
	ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:" + port}}, PublicIP: local})
	if err != nil {
		panic(err)
	}
	ua.OnInvite(c.answer)
	go func() {
		if err := ua.Serve(context.Background()); err != nil {
			panic(err)
		}
	}()
	<-ua.Ready()
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if in.Text() == "interrupt" {
			c.interrupts.Store(true)
		}
		h := c.report(in.Text() == "watch")
		text, err := json.Marshal(h)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}

// report sums up; forget begins anew.
func (c *chorus) report(forget bool) (h turnReport) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.Phones, h.Turns, h.Lost = c.phones, len(c.gaps), c.lost
	if n := len(c.gaps); n > 0 {
		all := slices.Sorted(slices.Values(c.gaps))
		h.P50Ms, h.P95Ms, h.MostMs = all[n/2], all[n*95/100], all[n-1]
	}
	if forget {
		c.gaps, c.lost = nil, 0
	}
	return h
}

// talkerCall is one call of a talker.
type talkerCall struct {
	of    *chorus
	conn  *net.UDPConn
	to    *net.UDPAddr
	mu    sync.Mutex
	voice int64 // when the agent was heard last, in ns; 0: not yet
	since int64 // when it began to speak
	ended int64 // when the last packet of speech was sent; 0: no answer is awaited
}

func (c *chorus) answer(i *sip.Incoming) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	at := offeredAt.FindSubmatch(i.Body)
	if err != nil || at == nil {
		fmt.Fprintln(os.Stderr, errNoSocket)
		i.Reject(503, 0)
		return
	}
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		})
	}
	port, _ := strconv.Atoi(string(at[1]))
	t := &talkerCall{of: c, conn: conn, to: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}}
	c.mu.Lock()
	c.phones++
	c.mu.Unlock()
	i.Answer(fmt.Appendf(nil, "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0\r\n",
		conn.LocalAddr().(*net.UDPAddr).Port), func(ev sip.Event) {
		if _, over := ev.(sip.Ended); over {
			_ = conn.Close()
		}
	})
	go t.listen()
	go t.speak()
}

// listen notes when the agent is heard.
func (t *talkerCall) listen() {
	packet, oob := make([]byte, 2048), make([]byte, 128)
	for {
		n, oobn, _, _, err := t.conn.ReadMsgUDP(packet, oob)
		if err != nil {
			return
		}
		at := stamp(oob[:oobn])
		if n < 172 || at == 0 || vad.Level(packet[12:n]) < audible {
			continue
		}
		t.mu.Lock()
		if at-t.voice > int64(pausing) {
			t.since = at
		}
		t.voice = at
		if t.ended > 0 && at > t.ended {
			t.of.mu.Lock()
			t.of.gaps = append(t.of.gaps, float64(at-t.ended)/1e6)
			t.of.mu.Unlock()
			t.ended = 0
		}
		t.mu.Unlock()
	}
}

// due says whether it is the talker's turn.
func (t *talkerCall) due(now int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended > 0 && now-t.ended > int64(unanswered):
		t.of.mu.Lock()
		t.of.lost++
		t.of.mu.Unlock()
		return true
	case t.ended > 0 || t.voice == 0:
		return false
	case t.of.interrupts.Load():
		return now-t.since > int64(interrupting) && now-t.voice < int64(talkerFrame)*2
	}
	return now-t.voice > int64(pausing)
}

// speak sends a frame each 20 ms: words, or silence.
func (t *talkerCall) speak() {
	tick := time.NewTicker(talkerFrame)
	defer tick.Stop()
	packet := make([]byte, 172)
	packet[0] = 0x80
	wire.BigEndian.PutUint32(packet[8:], uint32(t.to.Port))
	last := lastAudible(t.of.words)
	at := len(t.of.words)
	for n := uint32(0); ; n++ {
		<-tick.C
		if at >= len(t.of.words) && t.due(time.Now().UnixNano()) {
			at = 0
		}
		wire.BigEndian.PutUint16(packet[2:], uint16(n))
		wire.BigEndian.PutUint32(packet[4:], n*160)
		for i := range 160 {
			packet[12+i] = g711.LinearToMu(0)
		}
		sent := at
		if at < len(t.of.words) {
			copy(packet[12:], t.of.words[at:])
			at += 160
		}
		now := time.Now().UnixNano()
		if _, err := t.conn.WriteToUDP(packet, t.to); err != nil {
			return
		}
		if sent == last {
			t.mu.Lock()
			t.ended = now
			t.mu.Unlock()
		}
	}
}

// lastAudible is where the last frame of words begins that can be heard.
func lastAudible(words []byte) (at int) {
	for from := 0; from+160 <= len(words); from += 160 {
		if vad.Level(words[from:from+160]) >= audible {
			at = from
		}
	}
	return at
}
