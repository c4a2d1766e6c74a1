package media_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/callboard/callboard/media"
)

// BenchmarkTurn1000Calls measures the media clock's CPU time per frame with a thousand calls of two-way audio, playback
// and stereo recording. It runs turns without waiting for real time and excludes the threads that write recordings.
func BenchmarkTurn1000Calls(b *testing.B) {
	const calls = 1000
	dir, words := b.TempDir(), chirp(time.Minute)
	e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: 24000, PortMax: 29999, Quarantine: 50 * time.Millisecond})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, e.Close()) })
	sessions, peers := make([]*media.Session, calls), make([]*peerSocket, calls)
	for i := range sessions {
		sessions[i], err = e.Open(media.Options{RecordPath: filepath.Join(dir, fmt.Sprintf("%d.wav", i))})
		require.NoError(b, err)
		peers[i] = newPeerSocket(b, sessions[i].LocalPort())
	}
	turns := media.NewTurns(sessions)
	for i, s := range sessions {
		sdp := fmt.Appendf(nil, "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n", peers[i].port)
		_, err = s.Answer(sdp)
		require.NoError(b, err)
		s.Begin()
		s.Play(1, words)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var spent time.Duration
	turn, frames := 0, 0
	once := func() {
		for i := turn % 4; i < calls; i += 4 {
			peers[i].say()
		}
		before := threadTime(b)
		turns.Once()
		spent += threadTime(b) - before
		frames += calls / 4
		turn++
	}
	for range 40 {
		once()
	}
	spent, frames = 0, 0
	for b.Loop() {
		once()
	}
	b.ReportMetric(float64(spent)/float64(frames), "cpu-ns/frame")
}

// peerSocket is the UDP socket of a simulated RTP peer. It sends a packet when the benchmark calls the method say.
type peerSocket struct {
	fd, port int
	to       unix.SockaddrInet4
	packet   [172]byte
	seq      uint16
	buf      [1500]byte
}

func newPeerSocket(b *testing.B, to int) *peerSocket {
	b.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	require.NoError(b, err)
	b.Cleanup(func() { _ = unix.Close(fd) })
	require.NoError(b, unix.Bind(fd, &unix.SockaddrInet4{Addr: loopback.As4()}))
	name, err := unix.Getsockname(fd)
	require.NoError(b, err)
	f := &peerSocket{fd: fd, port: name.(*unix.SockaddrInet4).Port, to: unix.SockaddrInet4{Addr: loopback.As4(), Port: to}}
	f.packet[0] = 2 << 6
	binary.BigEndian.PutUint32(f.packet[8:], uint32(to))
	for i := range f.packet[12:] {
		f.packet[12+i] = byte(i)
	}
	return f
}

// say reads and drops the received packets, then sends a packet with a frame of audio.
func (f *peerSocket) say() {
	for {
		if n, _, err := unix.Recvfrom(f.fd, f.buf[:], unix.MSG_DONTWAIT); n <= 0 || err != nil {
			break
		}
	}
	f.seq++
	binary.BigEndian.PutUint16(f.packet[2:], f.seq)
	binary.BigEndian.PutUint32(f.packet[4:], uint32(f.seq)*160)
	_ = unix.Sendto(f.fd, f.packet[:], unix.MSG_DONTWAIT, &f.to)
}

// threadTime returns the CPU time of this thread.
func threadTime(b *testing.B) time.Duration {
	b.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
