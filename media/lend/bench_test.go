package lend_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
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
	benchRole  = "CALLBOARD_LEND_BENCH"
	benchTime  = 10 * time.Second
	benchCalls = 300
)

// TestMain lets the benchmark run the lender and the far ends in processes of their own, so that each is measured by itself.
func TestMain(m *testing.M) {
	switch os.Getenv(benchRole) {
	case "lender":
		lendToParent()
	case "far":
		answerAll()
	default:
		os.Exit(m.Run())
	}
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func benchEngine(low int) *media.Engine {
	return must(media.NewEngine(media.Config{BindIP: loopback, PortMin: low, PortMax: low + 1999}))
}

// answerAll answers one offer a line, and speaks.
func answerAll() {
	e, words := benchEngine(42000), chirp(4*benchTime)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		s := must(e.Open(media.Options{}))
		answer := must(s.Answer(must(base64.StdEncoding.DecodeString(in.Text()))))
		s.Begin()
		s.Play(1, words)
		fmt.Println(base64.StdEncoding.EncodeToString(answer))
	}
}

// lendToParent lends over TLS until the input ends. Each line that comes is answered with the time of processors used so far,
// in µs.
func lendToParent() {
	e := benchEngine(40000)
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	t := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert := must(x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key))
	door := must(tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}}))
	go func() { _ = lend.NewLender(lend.LenderConfig{Engine: e}).Serve(door) }()
	fmt.Println(door.Addr())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(spent().Microseconds())
	}
}

// child is a process in one of the roles, spoken to in lines.
type child struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

func newChild(b *testing.B, role string) *child {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), benchRole+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	return &child{in, bufio.NewScanner(out)}
}

func (c *child) hear() string {
	if !c.out.Scan() {
		panic("it has ended")
	}
	return c.out.Text()
}

func (c *child) ask(line string) string {
	must(fmt.Fprintln(c.in, line))
	return c.hear()
}

// spent is the time of processors that this process has used.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLentCalls is what a second of a call costs at either end, with playback, and where what the far end says is heard
// besides. "here" is the same without a link: there is no lender then.
func BenchmarkLentCalls(b *testing.B) {
	for _, how := range []string{"here", "here, heard", "lent", "lent, heard"} {
		b.Run(how, func(b *testing.B) {
			lender, far := newChild(b, "lender"), newChild(b, "far")
			at := lender.hear()
			var open func() session
			if strings.HasPrefix(how, "lent") {
				link := must(lend.Join(b.Context(), tls.Client(must(net.Dial("tcp4", at)), &tls.Config{InsecureSkipVerify: true}), lend.LinkConfig{}))
				defer link.Close()
				open = func() session { return must(link.Open(media.Options{})) }
			} else {
				e := benchEngine(44000)
				defer func() { _ = e.Close() }()
				open = func() session { return must(e.Open(media.Options{})) }
			}
			words := chirp(4 * benchTime)
			for range benchCalls {
				s := open()
				answer := far.ask(base64.StdEncoding.EncodeToString(s.Offer()))
				require.NoError(b, s.Accept(must(base64.StdEncoding.DecodeString(answer))))
				s.Begin()
				s.Play(1, words)
				if strings.HasSuffix(how, "heard") {
					s.Hear(func([]byte) {})
				}
			}
			theirs := func() time.Duration {
				return time.Duration(must(strconv.Atoi(lender.ask("")))) * time.Microsecond
			}
			time.Sleep(time.Second)
			for b.Loop() {
				there, here, start := theirs(), spent(), time.Now()
				time.Sleep(benchTime)
				seconds := time.Since(start).Seconds() * benchCalls
				b.ReportMetric(float64((theirs()-there).Microseconds())/seconds, "lender-µs/call-s")
				b.ReportMetric(float64((spent()-here).Microseconds())/seconds, "here-µs/call-s")
			}
		})
	}
}
