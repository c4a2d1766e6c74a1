package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/enginetest"
	"github.com/callboard/callboard/engines/llm/llmtest"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/sip/siptest"
)

// Parts of the response time of a turn that the runtime does not cause. They are the silence that ends the caller's turn
// and the delay of the jitter buffer on a perfect network.
const turnSilenceMs, turnBufferMs = 500.0, 40.0

// talkerProcess is a child process with simulated callers, who all play the same audio in each turn.
type talkerProcess struct {
	port int
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

func startTalkerProcess(b testing.TB, words []byte) *talkerProcess {
	b.Helper()
	path := filepath.Join(b.TempDir(), "words.wav")
	require.NoError(b, os.WriteFile(path, wav.EncodeMu(1, words), 0o600))
	t := &talkerProcess{port: siptest.Port(b), cmd: exec.Command(os.Args[0])}
	t.cmd.Env = append(os.Environ(), benchTalkersEnv+"="+strconv.Itoa(t.port)+" "+path)
	t.cmd.Stderr = os.Stderr
	var err error
	t.in, err = t.cmd.StdinPipe()
	require.NoError(b, err)
	out, err := t.cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, t.cmd.Start())
	b.Cleanup(func() { _ = t.in.Close(); _ = t.cmd.Wait() })
	t.out = bufio.NewReader(out)
	ready, err := t.out.ReadString('\n')
	require.NoError(b, err)
	require.Equal(b, "ready\n", ready)
	return t
}

// sendCommand sends a command to the process and returns its report. The command "watch" resets the measurements,
// "interrupt" makes the callers speak over the agent.
func (t *talkerProcess) sendCommand(b testing.TB, command string) (h turnReport) {
	b.Helper()
	_, err := fmt.Fprintln(t.in, command)
	require.NoError(b, err)
	line, err := t.out.ReadBytes('\n')
	require.NoError(b, err)
	require.NoError(b, json.Unmarshal(line, &h))
	return h
}

// newServiceWithInstantEngines starts a service whose speech engines and language model answer at once.
func newServiceWithInstantEngines(b *testing.B) *service {
	b.Helper()
	engines, model := enginetest.New(b), llmtest.New(b, func(int, *llmtest.Request) llmtest.Reply { return llmtest.ChunkedReply("Go on. ") })
	engines.SetResponses(func(int, string) enginetest.Answer { return enginetest.Answer{Say: longPrompt()} })
	dir := b.TempDir()
	key, path := filepath.Join(dir, "key"), filepath.Join(dir, "engines.yaml")
	require.NoError(b, os.WriteFile(key, []byte(enginetest.Key), 0o600))
	require.NoError(b, os.WriteFile(path, fmt.Appendf(nil, `
engines:
  fake: {kind: openai, url: %s/v1, key_file: %s, tts: {}, stt: {}}
  live: {kind: openai, url: %s/v1, key_file: %s, realtime: {}}
  mind: {kind: openai, url: %s, llm: {model: fake}}
tts: [fake]
stt: [fake]
llm: [mind]
`, engines.URL, key, engines.URL, key, model.URL), 0o600))
	return newMeasuredService(b, "CALLBOARD_ENGINES_FILE="+path)
}

// longPrompt returns a prompt that is long enough for callers to interrupt.
func longPrompt() string { return strings.Repeat("Who speaks now is heard. ", 6) }

// repeatingPathway returns a pathway that repeats its question after any answer.
func repeatingPathway(prompt string) object {
	return object{
		"name": "asking", "start": "ask",
		"nodes": []object{{"id": "ask", "type": "collect", "input": "speech", "prompt": prompt, "retries": 9, "timeout_seconds": 20}, {"id": "bye", "type": "end"}},
		"edges": []object{
			{"from": "ask", "to": "ask", "when": object{"type": "intent", "intent": "yes"}},
			{"from": "ask", "to": "bye", "when": object{"type": "else"}},
		},
	}
}

// conversationPathway returns a pathway in which a language model conducts the conversation.
func conversationPathway() object {
	return object{
		"name": "conversing", "start": "talk",
		"nodes": []object{{"id": "hello", "type": "say", "prompt": "Go on."}, {"id": "talk", "type": "converse", "prompt": "Talk.", "timeout_seconds": 30, "max_turns": 500}, {"id": "bye", "type": "end"}},
		"edges": []object{{"from": "talk", "to": "bye", "when": object{"type": "else"}}, {"from": "hello", "to": "talk", "when": object{"type": "always"}}},
	}
}

// shortSpeech returns 600 ms of a caller's speech.
func shortSpeech(b *testing.B) []byte {
	b.Helper()
	clip, err := callerSpeech()
	require.NoError(b, err)
	return clip[:4800]
}

// BenchmarkTurns measures the time that the runtime adds to a turn with instant engines, in one conversation and in 200
// concurrent conversations. It also measures the CPU time of the conversations.
func BenchmarkTurns(b *testing.B) {
	benchResults.addRowOnFailure(b)
	b.Run("phrases", func(b *testing.B) {
		s, far := newServiceWithInstantEngines(b), startTalkerProcess(b, shortSpeech(b))
		s.createTrunkForAllNumbers(far.port)
		agent := s.createAgent(repeatingPathway("Go on."))
		reportTurns(b, s, far, agent, 1, "engines for speech")
		reportTurns(b, s, far, agent, 200, "engines for speech")
	})
	b.Run("model", func(b *testing.B) {
		s, far := newServiceWithInstantEngines(b), startTalkerProcess(b, shortSpeech(b))
		s.createTrunkForAllNumbers(far.port)
		agent := s.createAgent(conversationPathway())
		reportTurns(b, s, far, agent, 1, "engines for speech and a model")
		reportTurns(b, s, far, agent, 200, "engines for speech and a model")
	})
	b.Run("local", func(b *testing.B) {
		e, err := speech.NewEspeak(1, 10*time.Second)
		require.NoError(b, err)
		yes, err := e.Speak(b.Context(), speech.Request{Text: "Yes please.", Voice: "en-us+f3"})
		require.NoError(b, err)
		s, far := newMeasuredService(b), startTalkerProcess(b, yes)
		s.createTrunkForAllNumbers(far.port)
		reportTurns(b, s, far, s.createAgent(repeatingPathway("Go on.")), 20, "espeak-ng and pocketsphinx")
	})
}

// turnLoad is the measurement of the turns of concurrent conversations.
type turnLoad struct {
	latency turnReport
	usage   usage
	cpu     time.Duration // CPU time of the service and its child processes
}

// p50 and p95 return the milliseconds from the end of the caller's speech to the agent's answer, without turnSilenceMs and
// turnBufferMs.
func (l *turnLoad) p50() float64 { return l.latency.P50Ms - turnSilenceMs - turnBufferMs }
func (l *turnLoad) p95() float64 { return l.latency.P95Ms - turnSilenceMs - turnBufferMs }

// measureTurns starts concurrent conversations, measures their turns and ends them.
func measureTurns(b *testing.B, s *service, far *talkerProcess, agent string, calls int) turnLoad {
	b.Helper()
	const window = 15 * time.Second
	s.api("PATCH", "/v1/workspace", object{"limits": object{"concurrent_outbound": 1000}})
	before := far.sendCommand(b, "count").Phones
	id := s.startCampaign(agent, phoneNumbers("+120255"+strconv.Itoa(calls%10+5), calls), object{"pacing": object{"calls_per_minute": 100000, "max_concurrent": calls}})
	s.await("audio of all callers", 90*time.Second, func() bool {
		h := far.sendCommand(b, "count")
		return h.Phones == before+calls && h.Turns >= 2*calls
	})
	far.sendCommand(b, "watch")
	w := startStopwatch(b, s.pid(), far.cmd.Process.Pid)
	kids := cpuTimeOfChildren(b, s.pid())
	time.Sleep(window)
	u := w.stop()
	kids = cpuTimeOfChildren(b, s.pid()) - kids
	h := far.sendCommand(b, "tell")
	require.Positive(b, h.Turns)
	st, _ := s.campaignStatus(id)
	require.Equal(b, calls, st.Progress.InProgress, "conversations at the end")
	s.api("POST", "/v1/campaigns/"+id+"/cancel", object{"hangup_active": true})
	s.await("the end of all calls", time.Minute, func() bool { return len(s.listData("/v1/calls?status=active&limit=1")) == 0 })
	return turnLoad{h, u, u.cpu + kids}
}

// reportTurns measures the turns of concurrent conversations and adds the results to the table.
func reportTurns(b *testing.B, s *service, far *talkerProcess, agent string, calls int, by string) {
	b.Helper()
	l := measureTurns(b, s, far, agent, calls)
	h := l.latency
	name := fmt.Sprintf("%d conversations", calls)
	if calls == 1 {
		name = "one conversation"
	}
	goal, met := "", false
	if !strings.Contains(by, "espeak") {
		goal, met = "p50 ≤ 50, p95 ≤ 100 ms", l.p50() <= 50 && l.p95() <= 100
	}
	benchResults.add(fmt.Sprintf("Latency that the runtime adds to a turn, %s, %s, %d turns", name, by, h.Turns), goal,
		fmt.Sprintf("p50 %.0f, p95 %.0f, most %.0f ms; %d without an answer", l.p50(), l.p95(), h.MostMs-turnSilenceMs-turnBufferMs, h.Lost), met, &l.usage)
	each := l.cpu.Seconds() / l.usage.elapsed.Seconds() / float64(calls)
	benchResults.add(fmt.Sprintf("CPU of a conversation, %s, %s", name, by), "",
		fmt.Sprintf("%.1f %% of a core, %.0f ms a turn", 100*each, l.cpu.Seconds()*1000/float64(h.Turns)), false, nil)
}

// cpuTimeOfChildren returns the CPU time of those child processes of a process that have ended.
func cpuTimeOfChildren(b testing.TB, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	_, after, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(after)
	return parseTicks(b, f[13]) + parseTicks(b, f[14])
}

// BenchmarkBargeIn measures in recordings how long the agent's audio continues after the caller has begun to speak, with a
// pathway and with a realtime engine.
func BenchmarkBargeIn(b *testing.B) {
	benchResults.addRowOnFailure(b)
	b.Run("pathway", func(b *testing.B) {
		measureBargeIn(b, "", func(s *service) string { return s.createAgent(repeatingPathway(longPrompt())) })
	})
	b.Run("realtime", func(b *testing.B) {
		measureBargeIn(b, " of a realtime engine", func(s *service) string {
			return s.api("POST", "/v1/agents", object{"name": "live", "realtime": object{"engine": "live"}, "system_prompt": "Be kind."})["id"].(string)
		})
	})
}

// measureBargeIn places calls to callers who interrupt the agent, and measures in the recordings when the agent stops.
func measureBargeIn(b *testing.B, of string, agentOf func(*service) string) {
	b.Helper()
	const calls = 10
	s, far := newServiceWithInstantEngines(b), startTalkerProcess(b, shortSpeech(b))
	far.sendCommand(b, "interrupt")
	s.createTrunkForAllNumbers(far.port)
	agent := agentOf(s)
	var ids []string
	for _, to := range phoneNumbers("+1202557", calls) {
		ids = append(ids, s.placeCall(to, agent, object{"record": true, "compliance": allHours()}))
	}
	s.await("audio of all callers", 90*time.Second, func() bool { return far.sendCommand(b, "count").Phones == calls })
	time.Sleep(30 * time.Second)
	var stops []float64
	for _, id := range ids {
		s.api("POST", "/v1/calls/"+id+"/hangup", nil)
		stops = append(stops, findStops(b, s.saveRecording(id))...)
	}
	require.Greater(b, len(stops), 2*calls)
	slices.Sort(stops)
	p50, p95, most := stops[len(stops)/2], stops[len(stops)*95/100], stops[len(stops)-1]
	benchResults.add(fmt.Sprintf("Barge-in: the agent's audio%s continues after the caller begins to speak, %d times, in recordings", of, len(stops)), "≤ 300 ms",
		fmt.Sprintf("p50 %.0f, p95 %.0f, most %.0f ms", p50, p95, most), most <= 300, nil)
}

// findStops finds in a stereo recording where the caller begins to speak during the agent's audio. For each such point it
// returns the time in ms until the agent's audio ends.
func findStops(b testing.TB, path string) (stops []float64) {
	b.Helper()
	file, err := wav.ReadFile(path, 100<<20)
	require.NoError(b, err)
	left, right := audibleFrames(file.Channel(0)), audibleFrames(file.Channel(1))
	for i := 30; i < min(len(left), len(right))-100; i++ {
		if !left[i] || slices.Contains(left[i-30:i], true) || !right[i] {
			continue // no begin of speech, or not during the agent's audio
		}
		for k := i; k < len(right)-20; k++ {
			if !slices.Contains(right[k:k+20], true) {
				stops = append(stops, float64(k-i)*10)
				break
			}
		}
	}
	return stops
}

// audibleFrames reports for each 10 ms of the audio whether it is audible.
func audibleFrames(readSamples []int16) (out []bool) {
	const frame = 80
	for from := 0; from+frame <= len(readSamples); from += frame {
		sum := 0.0
		for _, v := range readSamples[from : from+frame] {
			sum += float64(v) * float64(v)
		}
		out = append(out, sum/frame > 200*200)
	}
	return out
}
