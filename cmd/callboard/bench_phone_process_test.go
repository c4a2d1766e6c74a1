package main_test

import (
	"bufio"
	"context"
	wire "encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

// benchPhonesEnv is an environment variable. If it is set, the test binary runs as a child process that simulates
// the phones of a benchmark.
const benchPhonesEnv = "CALLBOARD_BENCH_PHONES"

const (
	phonesLow, phonesHigh = 50000, 59998
	timedPhoneInterval    = 10 // every tenth phone measures the time of each packet
)

// intervalReport contains the intervals between the packets that the phones received, by the kernel's time stamps.
type intervalReport struct {
	Count                    int
	P50Ms, P99Ms, MostMs     float64
	Phones, Watched, Refused int
	Streams                  int     // streams whose packets were counted between "watch" and "tell"
	Slowest, Fastest         float64 // packets per second of one stream
}

// phoneFarm is a child process with simulated phones. They answer at once and send speech until the service hangs up.
type phoneFarm struct {
	port int
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

func startPhoneFarm(b testing.TB) *phoneFarm {
	b.Helper()
	f := &phoneFarm{port: siptest.Port(b), cmd: exec.Command(os.Args[0])}
	f.cmd.Env = append(os.Environ(), benchPhonesEnv+"="+strconv.Itoa(f.port))
	f.cmd.Stderr = os.Stderr
	var err error
	f.in, err = f.cmd.StdinPipe()
	require.NoError(b, err)
	out, err := f.cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, f.cmd.Start())
	b.Cleanup(func() { _ = f.in.Close(); _ = f.cmd.Wait() })
	f.out = bufio.NewReader(out)
	ready, err := f.out.ReadString('\n')
	require.NoError(b, err)
	require.Equal(b, "ready\n", ready)
	return f
}

// sendCommand sends a command to the process and returns its report. The command "watch" starts a measurement of the
// packet intervals, and "tell" ends it.
func (f *phoneFarm) sendCommand(b testing.TB, word string) (h intervalReport) {
	b.Helper()
	_, err := fmt.Fprintln(f.in, word)
	require.NoError(b, err)
	line, err := f.out.ReadBytes('\n')
	require.NoError(b, err)
	require.NoError(b, json.Unmarshal(line, &h))
	return h
}

// phoneServer runs the simulated phones in the child process of a phoneFarm.
type phoneServer struct {
	engine      *media.Engine
	words       media.Clip
	phones      atomic.Int64
	refused     atomic.Int64
	timedPhones []*timedPhone
	mediaPhones map[*media.Session]bool
	mu          sync.Mutex
	since       atomic.Int64 // earlier intervals do not count
	counted     map[packetCounter]uint64
	from        time.Time
}

// packetCounter returns the number of packets that a phone has received.
type packetCounter interface{ packets() uint64 }

// mediaPhone is a simulated phone that uses a complete media session.
type mediaPhone struct{ *media.Session }

func (w mediaPhone) packets() uint64 { return w.Stats().PacketsReceived }

// runPhoneServer runs the simulated phones until the standard input ends. It replies to each input line with a report.
func runPhoneServer(port string) {
	local := netip.MustParseAddr("127.0.0.1")
	engine, err := media.NewEngine(media.Config{BindIP: local, PublicIP: local, PortMin: phonesLow, PortMax: phonesHigh})
	if err != nil {
		panic(err)
	}
	f := &phoneServer{engine: engine, words: tone.Make(60*time.Second, 0.3, 300, 1100), mediaPhones: make(map[*media.Session]bool)}
	ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:" + port}}, PublicIP: local})
	if err != nil {
		panic(err)
	}
	ua.OnInvite(f.answerCall)
	go func() {
		if err := ua.Serve(context.Background()); err != nil {
			panic(err)
		}
	}()
	<-ua.Ready()
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		h := f.report()
		switch in.Text() {
		case "watch":
			f.resetIntervals()
			f.since.Store(time.Now().UnixNano())
			f.counted, f.from = f.countPackets(), time.Now()
		case "tell":
			f.computeRates(&h)
		}
		text, err := json.Marshal(h)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}

// answerCall answers a call. Every tenth call gets a phone that measures the time of each packet, the others a
// mediaPhone.
func (f *phoneServer) answerCall(i *sip.Incoming) {
	n := f.phones.Add(1)
	if n%timedPhoneInterval == 0 {
		f.answerTimed(i)
		return
	}
	s, err := f.engine.Open(media.Options{})
	if err != nil {
		f.refused.Add(1)
		i.Reject(503, 0)
		return
	}
	body, err := s.Answer(i.Body)
	if err != nil {
		f.refused.Add(1)
		s.Close()
		i.Reject(488, 0)
		return
	}
	f.mu.Lock()
	f.mediaPhones[s] = true
	f.mu.Unlock()
	i.Answer(body, func(e sip.Event) {
		if _, over := e.(sip.Ended); over {
			f.mu.Lock()
			delete(f.mediaPhones, s)
			f.mu.Unlock()
			s.Close()
		}
	})
	s.Begin()
	s.Play(1, f.words)
}

// timedPhone is a simulated phone that records the kernel's time stamp of each received packet.
type timedPhone struct {
	mu    sync.Mutex
	last  int64
	n     uint64
	ended bool
	gaps  []float64 // in milliseconds
}

func (e *timedPhone) packets() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.n
}

var (
	offeredAt   = regexp.MustCompile(`m=audio (\d+)`)
	errNoSocket = "the phone has no socket"
)

func (f *phoneServer) answerTimed(i *sip.Incoming) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	at := offeredAt.FindSubmatch(i.Body)
	if err != nil || at == nil {
		f.refused.Add(1)
		fmt.Fprintln(os.Stderr, errNoSocket)
		i.Reject(503, 0)
		return
	}
	raw, err := conn.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		})
	}
	e := &timedPhone{}
	f.mu.Lock()
	f.timedPhones = append(f.timedPhones, e)
	f.mu.Unlock()
	i.Answer(fmt.Appendf(nil, "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0\r\n",
		conn.LocalAddr().(*net.UDPAddr).Port), func(ev sip.Event) {
		if _, over := ev.(sip.Ended); over {
			e.mu.Lock()
			e.ended = true
			e.mu.Unlock()
			_ = conn.Close()
		}
	})
	port, _ := strconv.Atoi(string(at[1]))
	go e.receivePackets(conn, &f.since)
	go sendSpeech(conn, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, f.words)
}

func (e *timedPhone) receivePackets(conn *net.UDPConn, since *atomic.Int64) {
	packet, oob := make([]byte, 2048), make([]byte, 128)
	for {
		n, oobn, _, _, err := conn.ReadMsgUDP(packet, oob)
		if err != nil {
			return
		}
		at := kernelTimestamp(oob[:oobn])
		if n < 172 || at == 0 {
			continue
		}
		e.mu.Lock()
		e.n++
		if from := since.Load(); from > 0 && e.last >= from {
			e.gaps = append(e.gaps, float64(at-e.last)/1e6)
		}
		e.last = at
		e.mu.Unlock()
	}
}

// kernelTimestamp returns the time, in nanoseconds, at which the kernel received a packet. On the loopback interface
// this is also the time at which the packet was sent.
func kernelTimestamp(oob []byte) int64 {
	list, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return 0
	}
	for _, m := range list {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= 16 {
			return int64(wire.NativeEndian.Uint64(m.Data))*1e9 + int64(wire.NativeEndian.Uint64(m.Data[8:]))
		}
	}
	return 0
}

// sendSpeech sends a frame of the audio words every 20 ms until the connection is closed.
func sendSpeech(conn *net.UDPConn, to *net.UDPAddr, words media.Clip) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	packet := make([]byte, 172)
	packet[0] = 0x80
	wire.BigEndian.PutUint32(packet[8:], uint32(to.Port))
	for n := uint32(0); ; n++ {
		<-tick.C
		wire.BigEndian.PutUint16(packet[2:], uint16(n))
		wire.BigEndian.PutUint32(packet[4:], n*160)
		copy(packet[12:], words[int(n*160)%(len(words)-160):])
		if _, err := conn.WriteToUDP(packet, to); err != nil {
			return
		}
	}
}

// countPackets returns, for each phone with a live call, the number of packets that it has received.
func (f *phoneServer) countPackets() map[packetCounter]uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make(map[packetCounter]uint64)
	for s := range f.mediaPhones {
		out[mediaPhone{s}] = mediaPhone{s}.packets()
	}
	for _, e := range f.timedPhones {
		e.mu.Lock()
		if !e.ended {
			out[e] = e.n
		}
		e.mu.Unlock()
	}
	return out
}

// computeRates adds to the report the packets per second of each phone since the command "watch".
func (f *phoneServer) computeRates(h *intervalReport) {
	passed := time.Since(f.from).Seconds()
	for c, n := range f.countPackets() {
		before, known := f.counted[c]
		if !known {
			continue
		}
		rate := float64(n-before) / passed
		if h.Streams++; h.Streams == 1 || rate < h.Slowest {
			h.Slowest = rate
		}
		h.Fastest = max(h.Fastest, rate)
	}
}

// resetIntervals discards the packet intervals that were recorded so far.
func (f *phoneServer) resetIntervals() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.timedPhones {
		e.mu.Lock()
		e.gaps = nil
		e.mu.Unlock()
	}
}

func (f *phoneServer) report() (h intervalReport) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []float64
	for _, e := range f.timedPhones {
		e.mu.Lock()
		all = append(all, e.gaps...)
		e.mu.Unlock()
	}
	h.Phones, h.Watched, h.Refused = int(f.phones.Load()), len(f.timedPhones), int(f.refused.Load())
	if h.Count = len(all); h.Count == 0 {
		return h
	}
	slices.Sort(all)
	h.P50Ms, h.P99Ms, h.MostMs = all[len(all)/2], all[len(all)*99/100], all[len(all)-1]
	return h
}
