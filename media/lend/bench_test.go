package lend_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/lend"
)

const (
	benchLender = "CALLBOARD_LEND_BENCH"
	benchTime   = 10 * time.Second
	benchCalls  = 300
)

// TestMain lets the benchmark run the lender in a process of its own, so that each end is measured by itself.
func TestMain(m *testing.M) {
	if os.Getenv(benchLender) != "" {
		lendToParent()
		return
	}
	os.Exit(m.Run())
}

// lendToParent lends over TLS until the input ends. Each line that comes is answered with the time of processors used so far,
// in µs.
func lendToParent() {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: 40000, PortMax: 49999})
	must(err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	t := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	must(err)
	door, err := tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}})
	must(err)
	go func() { _ = lend.NewLender(lend.LenderConfig{Engine: e}).Serve(door) }()
	if os.Getenv(benchLender) == "local" {
		benchSessions(func(o media.Options) session { s, errOpen := e.Open(o); must(errOpen); return s }, false, must)
	}
	fmt.Println(door.Addr())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(spent().Microseconds())
	}
}

// spent is the time of processors that this process has used.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchSessions opens calls that talk to each other in pairs.
func benchSessions(open func(media.Options) session, hear bool, must func(error)) {
	words := chirp(4 * benchTime)
	for range benchCalls / 2 {
		a, b := open(media.Options{}), open(media.Options{})
		answer, err := b.Answer(a.Offer())
		must(err)
		must(a.Accept(answer))
		for _, s := range []session{a, b} {
			s.Begin()
			s.Play(1, words)
			if hear {
				s.Hear(func([]byte) {})
			}
		}
	}
}

// BenchmarkLentCalls is what a second of a call costs at either end, with playback, and where what the far end says is heard
// besides. "here" is the same without a link, in one process.
func BenchmarkLentCalls(b *testing.B) {
	for _, how := range []string{"here", "lent", "lent, heard"} {
		b.Run(how, func(b *testing.B) {
			mode := "lender"
			if how == "here" {
				mode = "local"
			}
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), benchLender+"="+mode)
			child.Stderr = os.Stderr
			in, err := child.StdinPipe()
			require.NoError(b, err)
			pipe, err := child.StdoutPipe()
			require.NoError(b, err)
			require.NoError(b, child.Start())
			defer func() { _ = in.Close(); _ = child.Wait() }()
			out := bufio.NewScanner(pipe)
			require.True(b, out.Scan())
			at := out.Text()
			theirs := func() time.Duration {
				_, errWrite := fmt.Fprintln(in)
				require.NoError(b, errWrite)
				require.True(b, out.Scan())
				us, errRead := strconv.Atoi(strings.TrimSpace(out.Text()))
				require.NoError(b, errRead)
				return time.Duration(us) * time.Microsecond
			}
			if mode == "lender" {
				conn, errDial := net.Dial("tcp4", at)
				require.NoError(b, errDial)
				link, errJoin := lend.Join(b.Context(), tls.Client(conn, &tls.Config{InsecureSkipVerify: true}), lend.LinkConfig{})
				require.NoError(b, errJoin)
				defer link.Close()
				benchSessions(func(o media.Options) session {
					s, errOpen := link.Open(o)
					require.NoError(b, errOpen)
					return s
				}, how != "lent", func(err error) { require.NoError(b, err) })
			}
			time.Sleep(time.Second)
			for b.Loop() {
				lender, borrower, start := theirs(), spent(), time.Now()
				time.Sleep(benchTime)
				seconds := time.Since(start).Seconds() * benchCalls
				b.ReportMetric(float64((theirs()-lender).Microseconds())/seconds, "lender-µs/call-s")
				b.ReportMetric(float64((spent()-borrower).Microseconds())/seconds, "borrower-µs/call-s")
			}
		})
	}
}
