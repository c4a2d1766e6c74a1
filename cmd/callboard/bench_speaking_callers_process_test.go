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

// benchTalkersEnv is an environment variable with a value "PORT WORDS". If it is set, the test binary runs as a set of
// simulated callers on PORT. WORDS is a file with the audio that each caller plays whenever the agent falls silent.
const benchTalkersEnv = "CALLBOARD_BENCH_TALKERS"

const (
	frameDuration  = 20 * time.Millisecond
	audibleLevel   = -45.0                   // dB; louder packets of the agent count as speech
	replyDelay     = 700 * time.Millisecond  // silence of the agent before a caller speaks
	interruptDelay = 1500 * time.Millisecond // time after which an interrupting caller speaks over the agent
	answerTimeout  = 8 * time.Second         // time without an answer after which a caller speaks again
)

// turnReport contains the response times since the command "watch". A response time lasts from the caller's last packet
// of speech to the first audible packet of the agent's answer, by the kernel's time stamps.
type turnReport struct {
	Phones, Turns, Lost  int
	P50Ms, P95Ms, MostMs float64
}

// talkerServer runs the simulated callers in the child process and collects their response times.
type talkerServer struct {
	words      []byte // µ-law
	interrupts atomic.Bool
	mu         sync.Mutex
	phones     int
	gaps       []float64 // in milliseconds
	lost       int
}

// runTalkerServer runs the simulated callers until the standard input ends. It replies to each input line with a report.
func runTalkerServer(order string) {
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
	c := &talkerServer{words: words}
	ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:" + port}}, PublicIP: local})
	if err != nil {
		panic(err)
	}
	ua.OnInvite(c.answerCall)
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
		h := c.summarize(in.Text() == "watch")
		text, err := json.Marshal(h)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}

// summarize returns the report of the measurements. If forget is true, it resets the measurements.
func (c *talkerServer) summarize(forget bool) (h turnReport) {
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

// talkerCall is one call of a simulated caller.
type talkerCall struct {
	server      *talkerServer
	conn        *net.UDPConn
	to          *net.UDPAddr
	mu          sync.Mutex
	lastVoice   int64 // time of the agent's last audible packet, in ns; 0: none yet
	voiceBegan  int64 // time at which the agent began to speak
	speechEnded int64 // time of the last packet of speech; 0: no answer is expected
}

func (c *talkerServer) answerCall(i *sip.Incoming) {
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
	t := &talkerCall{server: c, conn: conn, to: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}}
	c.mu.Lock()
	c.phones++
	c.mu.Unlock()
	i.Answer(fmt.Appendf(nil, "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0\r\n",
		conn.LocalAddr().(*net.UDPAddr).Port), func(ev sip.Event) {
		if _, over := ev.(sip.Ended); over {
			_ = conn.Close()
		}
	})
	go t.receiveAudio()
	go t.sendFrames()
}

// receiveAudio reads the packets of the agent and records when the agent is audible.
func (t *talkerCall) receiveAudio() {
	packet, oob := make([]byte, 2048), make([]byte, 128)
	for {
		n, oobn, _, _, err := t.conn.ReadMsgUDP(packet, oob)
		if err != nil {
			return
		}
		at := kernelTimestamp(oob[:oobn])
		if n < 172 || at == 0 || vad.Level(packet[12:n]) < audibleLevel {
			continue
		}
		t.mu.Lock()
		if at-t.lastVoice > int64(replyDelay) {
			t.voiceBegan = at
		}
		t.lastVoice = at
		if t.speechEnded > 0 && at > t.speechEnded {
			t.server.mu.Lock()
			t.server.gaps = append(t.server.gaps, float64(at-t.speechEnded)/1e6)
			t.server.mu.Unlock()
			t.speechEnded = 0
		}
		t.mu.Unlock()
	}
}

// isTurn reports whether the caller must speak now: the agent is silent, must be interrupted, or did not answer.
func (t *talkerCall) isTurn(now int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.speechEnded > 0 && now-t.speechEnded > int64(answerTimeout):
		t.server.mu.Lock()
		t.server.lost++
		t.server.mu.Unlock()
		return true
	case t.speechEnded > 0 || t.lastVoice == 0:
		return false
	case t.server.interrupts.Load():
		return now-t.voiceBegan > int64(interruptDelay) && now-t.lastVoice < int64(frameDuration)*2
	}
	return now-t.lastVoice > int64(replyDelay)
}

// sendFrames sends a frame with speech or silence every 20 ms.
func (t *talkerCall) sendFrames() {
	tick := time.NewTicker(frameDuration)
	defer tick.Stop()
	packet := make([]byte, 172)
	packet[0] = 0x80
	wire.BigEndian.PutUint32(packet[8:], uint32(t.to.Port))
	last := lastAudible(t.server.words)
	at := len(t.server.words)
	for n := uint32(0); ; n++ {
		<-tick.C
		if at >= len(t.server.words) && t.isTurn(time.Now().UnixNano()) {
			at = 0
		}
		wire.BigEndian.PutUint16(packet[2:], uint16(n))
		wire.BigEndian.PutUint32(packet[4:], n*160)
		for i := range 160 {
			packet[12+i] = g711.LinearToMu(0)
		}
		sent := at
		if at < len(t.server.words) {
			copy(packet[12:], t.server.words[at:])
			at += 160
		}
		now := time.Now().UnixNano()
		if _, err := t.conn.WriteToUDP(packet, t.to); err != nil {
			return
		}
		if sent == last {
			t.mu.Lock()
			t.speechEnded = now
			t.mu.Unlock()
		}
	}
}

// lastAudible returns the offset of the last audible frame in the µ-law audio of the caller.
func lastAudible(words []byte) (at int) {
	for from := 0; from+160 <= len(words); from += 160 {
		if vad.Level(words[from:from+160]) >= audibleLevel {
			at = from
		}
	}
	return at
}
