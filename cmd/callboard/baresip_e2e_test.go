package main_test

import (
	"bufio"
	"bytes"
	bin "encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

const sampleRate = 8000 // samples per second of all audio in these tests

// softphone is a baresip process: a SIP phone that is independent of Callboard's code. It answers at once, plays its
// tone and records the audio that it sends and receives.
type softphone struct {
	t       testing.TB
	dir     string
	port    int
	control int
	at      phoneLocation
}

// phoneLocation is the IP address of a softphone and the network namespace with this address. An empty namespace is
// the namespace of the test process.
type phoneLocation struct{ ip, namespace string }

// newCommand returns a command that runs a program in the network namespace of the phone.
func (p phoneLocation) newCommand(name string, args ...string) *exec.Cmd {
	if p.namespace == "" {
		return exec.Command(name, args...)
	}
	return exec.Command("ip", append([]string{"netns", "exec", p.namespace, name}, args...)...)
}

// startBaresip starts a softphone for a phone number. The phone does not register.
func startBaresip(t testing.TB, number string) *softphone {
	t.Helper()
	return startBaresipWithAccount(t, fmt.Sprintf("<sip:%s@127.0.0.1>;regint=0", number))
}

// startBaresipWithAccount starts a softphone on loopback with a baresip account and additional configuration lines.
func startBaresipWithAccount(t testing.TB, account string, more ...string) *softphone {
	t.Helper()
	return startBaresipAt(t, phoneLocation{ip: "127.0.0.1"}, account, more...)
}

// startBaresipAt starts a softphone at an address and in a network namespace.
func startBaresipAt(t testing.TB, at phoneLocation, account string, more ...string) *softphone {
	t.Helper()
	p := &softphone{t: t, dir: t.TempDir(), port: siptest.Port(t), control: siptest.Port(t), at: at}
	tone := filepath.Join(p.dir, "tone.wav")
	require.NoError(t, os.WriteFile(tone, encodeWAV(sweepTone(180)), 0o600))
	low := siptest.MediaPorts100(t)
	config := fmt.Sprintf(`poll_method epoll
sip_listen %s:%d
audio_source aufile,%s
audio_player aubridge,nowhere
audio_alert aubridge,nowhere
audio_path %s
ausrc_srate %d
auplay_srate %d
ausrc_channels 1
auplay_channels 1
audio_buffer 20-160
jitter_buffer_delay 1-10
rtp_ports %d-%d
rtp_stats yes
module_path %s
module g711.so
module g722.so
module srtp.so
module aufile.so
module aubridge.so
module sndfile.so
module_tmp uuid.so
module_tmp account.so
module_app menu.so
module_app ctrl_tcp.so
net_interface %s
ctrl_tcp_listen 127.0.0.1:%d
snd_path %s
`, at.ip, p.port, tone, p.dir, sampleRate, sampleRate, low, low+98, baresipModuleFolder(t), at.ip, p.control, p.dir)
	config += strings.Join(more, "\n") + "\n"
	if !strings.Contains(account, ";audio_codecs=") {
		account += ";audio_codecs=PCMU/8000/1"
	}
	account += ";answermode=auto\n"
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "config"), []byte(config), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "accounts"), []byte(account), 0o600))
	out, err := os.Create(filepath.Join(p.dir, "log"))
	require.NoError(t, err)
	cmd := at.newCommand("nice", "-n", "-10", "baresip", "-f", p.dir, "-v", "-s") // nice may be denied, which is harmless
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, out, out
	require.NoError(t, cmd.Start(), "baresip must be installed: make tools")
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-exited
		_ = out.Close()
		if t.Failed() {
			t.Logf("baresip: %s", lastBytes(p.log(), 6000))
		}
	})
	require.Eventually(t, func() bool {
		select {
		case <-exited:
			return true
		default:
			return strings.Contains(p.log(), "baresip is ready")
		}
	}, time.Minute, 10*time.Millisecond, "baresip is not ready")
	require.Contains(t, p.log(), "baresip is ready")
	return p
}

// baresipModuleFolder returns the folder in which the system's baresip package installs its modules.
func baresipModuleFolder(t testing.TB) string {
	t.Helper()
	for _, pattern := range []string{"/usr/lib/baresip/modules", "/usr/lib/*/baresip/modules", "/usr/local/lib/baresip/modules"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	require.Fail(t, "baresip has no modules: make tools")
	return ""
}

func (p *softphone) log() string {
	text, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	return string(text)
}

// pressKey makes the phone send a DTMF digit.
func (p *softphone) pressKey(key string) { p.sendCommand("sndcode", key) }

// sendCommand sends a control command to the phone and waits until the phone has accepted it. Without the wait, a later
// SIP packet could arrive before the command, because it uses another socket.
func (p *softphone) sendCommand(name, params string) {
	p.t.Helper()
	conn, err := p.at.dialFrom("tcp", "127.0.0.1:"+strconv.Itoa(p.control))
	require.NoError(p.t, err)
	defer func() { _ = conn.Close() }()
	text, err := json.Marshal(object{"command": name, "params": params})
	require.NoError(p.t, err)
	_, err = fmt.Fprintf(conn, "%d:%s,", len(text), text)
	require.NoError(p.t, err)
	require.NoError(p.t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	from := bufio.NewReader(conn)
	for {
		var n int
		if _, err = fmt.Fscanf(from, "%d:", &n); err != nil {
			return // a phone that quits sends no response
		}
		response := make([]byte, n+1) // the response ends with a comma
		if _, err = io.ReadFull(from, response); err != nil || bytes.Contains(response, []byte(`"response":true`)) {
			return // events use the same connection
		}
	}
}

// recordedAudio returns the audio that the phone recorded in its only call. kind is "enc" for the sent audio, "dec" for
// the received audio. It waits until the phone has completed the file.
func (p *softphone) recordedAudio(kind string) []float64 {
	p.t.Helper()
	var found []string
	require.Eventually(p.t, func() bool {
		found = p.recordingFiles(kind)
		return len(found) > 0 && !slices.ContainsFunc(found, func(path string) bool { return wavState(path) != wavComplete })
	}, time.Minute, 20*time.Millisecond, "the phone has not closed what it recorded")
	require.Len(p.t, found, 1, kind)
	return readSamples(p.t, found[0], 1)
}

// recordingFiles returns the paths of the phone's recordings. kind is "enc" for the sent audio, "dec" for the received
// audio.
func (p *softphone) recordingFiles(kind string) []string {
	found, _ := filepath.Glob(filepath.Join(p.dir, "dump-*-"+kind+".wav")) // the pattern is valid
	return found
}

// States of a WAV file that is being written.
const (
	wavEmpty = iota
	wavGrowing
	wavComplete
)

// wavState returns whether a WAV file is empty, growing or complete. The file is complete when its header contains its
// size, because the phone writes the size last.
func wavState(path string) int {
	text, err := os.ReadFile(path)
	switch {
	case err != nil || len(text) <= 44:
		return wavEmpty
	case int(bin.LittleEndian.Uint32(text[4:])) != len(text)-8:
		return wavGrowing
	}
	return wavComplete
}

// sweepTone returns a tone whose frequency rises from 300 to 3000 Hz and whose volume changes, every eleven seconds. No
// two parts of the tone are alike, so that tests can align recordings.
func sweepTone(seconds int) []int16 {
	out, phase := make([]int16, seconds*sampleRate), 0.0
	for i := range out {
		t := math.Mod(float64(i)/sampleRate, 11)
		phase += 2 * math.Pi * (300 + 2700*t/11) / sampleRate
		out[i] = int16(9000 * (0.6 + 0.4*math.Sin(2*math.Pi*t/1.7)) * math.Sin(phase))
	}
	return out
}

// encodeWAV encodes samples as a mono 16-bit WAV file.
func encodeWAV(pcm []int16) []byte {
	var b bytes.Buffer
	n := uint32(2 * len(pcm))
	for _, part := range []any{
		[]byte("RIFF"), 36 + n, []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(sampleRate), uint32(2 * sampleRate), uint16(2), uint16(16),
		[]byte("data"), n, pcm,
	} {
		_ = bin.Write(&b, bin.LittleEndian, part) // bytes.Buffer never fails
	}
	return b.Bytes()
}

// readSamples reads one channel of a WAV file with the program sox, which is independent of Callboard's code.
func readSamples(t testing.TB, path string, channel int) []float64 {
	t.Helper()
	raw, err := exec.Command("sox", path, "-t", "raw", "-r", strconv.Itoa(sampleRate), "-e", "signed", "-b", "16", "-L", "-", "remix", strconv.Itoa(channel)).Output()
	require.NoError(t, err, "sox must be installed: make tools")
	out := make([]float64, len(raw)/2)
	for i := range out {
		out[i] = float64(int16(bin.LittleEndian.Uint16(raw[2*i:])))
	}
	return out
}

// audioSimilarity returns the correlation of two recordings of the same audio. It compares pieces of half a second and
// allows each piece an offset of a quarter of a second, because a jitter buffer may delay or skip audio.
func audioSimilarity(a, b []float64) float64 {
	const piece = sampleRate / 2
	var dot, aa, bb float64
	lag := 0
	for from := 0; from+piece <= min(len(a), len(b)); from += piece {
		part := a[from : from+piece]
		lag = findOffset(part, b, from, lag)
		other := b[from+lag : from+lag+piece]
		dot += dotProduct(part, other)
		aa += dotProduct(part, part)
		bb += dotProduct(other, other)
	}
	return dot / max(math.Sqrt(aa*bb), 1)
}

// findOffset returns by how many samples the piece part, which begins at from, is delayed in b. It prefers last, the
// offset of the previous piece, if that fits well.
func findOffset(part, b []float64, from, last int) int {
	const reach = sampleRate / 4
	n := len(part)
	lag, best := min(last, len(b)-from-n), 0.98
	if lag >= -from && sampleCorrelation(part, b[from+lag:from+lag+n], 1) > best {
		return lag
	}
	lag, best = 0, -2.0
	for l := max(-reach, -from); l <= reach && from+l+n <= len(b); l++ {
		if c := sampleCorrelation(part, b[from+l:from+l+n], 3); c > best {
			lag, best = l, c
		}
	}
	return lag
}

// sampleCorrelation returns the correlation of two recordings. It uses only every step-th sample.
//
//go:norace
func sampleCorrelation(a, b []float64, step int) float64 {
	var dot, aa, bb float64
	for i := 0; i < len(a); i += step {
		v, w := a[i], b[i]
		dot += v * w
		aa += v * v
		bb += w * w
	}
	return dot / max(math.Sqrt(aa*bb), 1)
}

// dotProduct returns the sum of the products of two recordings, sample by sample.
//
//go:norace
func dotProduct(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// awaitCallEnd waits until a call ends and returns its record.
func (s *service) awaitCallEnd(id string, limit time.Duration) object {
	s.t.Helper()
	var call object
	s.await("the end of "+id, limit, func() bool {
		call = s.api("GET", "/v1/calls/"+id, nil)
		return call["ended_at"] != nil
	})
	return call
}

// saveRecording waits for the recording of a call, saves it as a WAV file and returns the path.
func (s *service) saveRecording(id string) string {
	s.t.Helper()
	var wav []byte
	s.await("the recording", 20*time.Second, func() bool {
		code, text, head := s.tryRequest("GET", "/v1/calls/"+id+"/recording", nil)
		wav = text
		return code == http.StatusOK && head.Get("Content-Type") == "audio/wav"
	})
	path := filepath.Join(s.t.TempDir(), "call.wav")
	require.NoError(s.t, os.WriteFile(path, wav, 0o600))
	return path
}

// placeCall places one outbound call and returns its id.
func (s *service) placeCall(to, agent string, more object) string {
	s.t.Helper()
	body := object{"to": to, "from": "+12025550100", "agent_id": agent}
	maps.Copy(body, more)
	return s.api("POST", "/v1/calls/outbound", body)["id"].(string)
}

func TestBaresipAudioIsReceivedInBothDirections(t *testing.T) {
	t.Parallel()
	s := newService(t)
	agent := s.createAgent(object{
		"name": "speech", "start": "talk",
		"nodes": []object{
			{"id": "talk", "type": "say", "prompt": "This is a call from the clinic on the corner. Your visit is tomorrow at a quarter past nine in the morning. " +
				"Please bring the letter of your doctor, and a list of the medicine you take."},
			{"id": "bye", "type": "end"},
		},
		"edges": []object{{"from": "talk", "to": "bye", "when": object{"type": "always"}}},
	})
	c := s.makeUndisturbedCall(agent, func(number string) *softphone {
		p := startBaresip(t, number)
		s.trunkWith(number, p.port, "udp", nil)
		return p
	})
	heard, sent := c.phone.recordedAudio("dec"), c.phone.recordedAudio("enc")
	left, right := readSamples(t, c.wav, 1), readSamples(t, c.wav, 2)
	require.Greater(t, len(right), 8*sampleRate, "the agent played the whole sentence")
	c.checkAudio()
	assert.Less(t, audioSimilarity(heard[:2*sampleRate], left[:2*sampleRate]), 0.5, "the two channels differ")
	assert.InEpsilon(t, len(right), len(heard), 0.01, "number of samples in the recording and received by the phone")
	assert.InEpsilon(t, len(left), len(sent), 0.01, "number of samples in the recording and sent by the phone")

	quality := c.record["quality"].(object)
	assert.Zero(t, quality["loss_percent"])
	assert.Zero(t, quality["packets_refused"])
	assert.InEpsilon(t, len(sent)/160, quality["packets_received"], 0.01)
	assert.InEpsilon(t, len(right)/160, quality["packets_sent"], 0.01)
	assert.Greater(t, quality["mos"], 1.0)
	assert.NotEqual(t, "0", c.report[1], "packets received according to the phone")
	assert.NotEqual(t, "0", c.report[2], "packets sent")
	assert.Equal(t, "0,0", c.report[3], "packets lost")
}

// recordedCall is a call that both the service and the phone have recorded.
type recordedCall struct {
	phone  *softphone
	record object
	wav    string
	report []string // submatches of rtpStatHeader in the phone's log
}

// checkAudio checks that the phone and the service each received the audio that the other sent.
func (c recordedCall) checkAudio() {
	t := c.phone.t
	t.Helper()
	// The limit is 0.8, because the audio has gaps if the phone process is suspended. Unrelated audio has a similarity
	// below 0.1.
	assert.GreaterOrEqual(t, audioSimilarity(c.phone.recordedAudio("dec"), readSamples(t, c.wav, 2)), 0.8, "the phone received what the service played")
	assert.GreaterOrEqual(t, audioSimilarity(c.phone.recordedAudio("enc"), readSamples(t, c.wav, 1)), 0.8, "the service received what the phone played")
}

// makeUndisturbedCall makes a call over a new trunk to a phone that ring starts. If the machine was too busy, it repeats
// the call, up to five times. If the phone process was suspended, its report shows jitter. If the service was
// suspended, the length of the recording does not match the sent packets.
func (s *service) makeUndisturbedCall(agent string, ring func(number string) *softphone) (c recordedCall) {
	s.t.Helper()
	for i := range 6 {
		number := "+1202555012" + strconv.Itoa(i)
		c.phone = ring(number)
		id := s.placeCall(number, agent, nil)
		c.record = s.awaitCallEnd(id, 60*time.Second)
		require.Equal(s.t, "completed", c.record["status"], "%v", c.record)
		c.wav = s.saveRecording(id)
		s.await("the phone's report of the call", 10*time.Second, func() bool {
			c.report = rtpStatHeader.FindStringSubmatch(c.phone.log())
			return c.report != nil
		})
		most := 0.0
		for _, text := range c.report[4:] {
			jitter, err := strconv.ParseFloat(text, 64)
			require.NoError(s.t, err)
			most = max(most, jitter)
		}
		sent := c.record["quality"].(object)["packets_sent"].(float64)
		kept := float64(len(readSamples(s.t, c.wav, 2)) / 160)
		if most < 20 && math.Abs(kept-sent) < 0.01*sent && audioSimilarity(c.phone.recordedAudio("enc"), readSamples(s.t, c.wav, 1)) >= 0.9 {
			return c
		}
		s.t.Logf("the phone was stopped on the way: %s", c.report[0])
	}
	return c
}

// rtpStatHeader matches the packet statistics that baresip reports after a call: received, sent and lost packets, and
// the maximum jitter of each direction in ms.
var rtpStatHeader = regexp.MustCompile(`X-RTP-Stat: EX=BareSip;\S*PR=(\d+);PS=(\d+);PL=(\d+,\d+);\S*JI=([\d.]+),([\d.]+)`)

func TestBaresipDTMFIsReceived(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const number = "+12025550124"
	p := startBaresip(t, number)
	s.createTrunk("", p.port)
	id := s.placeCall(number, s.createMenuAgent(), nil)
	s.await("the answer", 20*time.Second, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["status"] == "in_progress" })
	p.pressKey("1")
	call := s.awaitCallEnd(id, 30*time.Second)
	assert.Equal(t, "confirmed", call["disposition"], "%v", call)
	assert.Equal(t, object{"answer": "1"}, call["variables"])
}
