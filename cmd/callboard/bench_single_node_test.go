package main_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/callboard/callboard/media/mediatest"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

const mb = 1 << 20

// wideMediaPorts is a port range that suffices for 2800 short calls per second. Each call uses a pair of ports, which
// stays reserved for five seconds afterwards.
const wideMediaPorts = "CALLBOARD_MEDIA_PORTS=33000-60998"

// newMeasuredService starts a service with the settings of a production service and ports for many calls.
func newMeasuredService(b *testing.B, env ...string) *service {
	b.Helper()
	s := prepareService(b, append([]string{"CALLBOARD_MEDIA_PORTS=3000-9998", "CALLBOARD_LOG_LEVEL=warn"}, env...)...)
	s.start()
	s.removeLimits()
	return s
}

func (s *service) pid() int { return s.cmd.Process.Pid }

// createTrunkForAllNumbers creates a trunk to a loopback port that takes the calls to all numbers. Its rate limit is
// too high to matter.
func (s *service) createTrunkForAllNumbers(port int) {
	s.t.Helper()
	s.api("POST", "/v1/trunks", object{
		"caller_ids": []string{"+12025550100"},
		"name":       "far end", "calls_per_second": 1000,
		"proxies": []object{{"host": "127.0.0.1", "port": port, "transport": "udp"}},
	})
}

// createMuteAgent creates an agent that hangs up right after the answer.
func (s *service) createMuteAgent() string {
	s.t.Helper()
	return s.createAgent(object{"name": "mute", "start": "bye", "nodes": []object{{"id": "bye", "type": "end"}}, "edges": []object{}})
}

// startAndTime starts the process of the service and returns the time until the service is ready.
func (s *service) startAndTime() time.Duration {
	began := time.Now()
	s.startProcess()
	for s.readyStatus() != http.StatusOK {
		require.Less(s.t, time.Since(began), 30*time.Second, lastBytes(s.logText(), 2000))
		time.Sleep(2 * time.Millisecond)
	}
	return time.Since(began)
}

// dropFileCache removes a file from the page cache, as after a boot. The kernel caches a file that was just written in
// pieces of 2 MB, which would count completely as resident memory of the service.
func dropFileCache(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	require.NoError(b, err)
	defer func() { _ = f.Close() }()
	require.NoError(b, f.Sync())
	require.NoError(b, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
}

func BenchmarkStart(b *testing.B) {
	s := prepareService(b)
	machine := startStopwatch(b, 0)
	first := s.startAndTime()
	cpu := cpuTimeOfProcess(b, s.pid())
	u := machine.stop()
	u.serviceCores, u.others = cpu.Seconds()/u.elapsed.Seconds(), max(u.others-cpu.Seconds()/u.elapsed.Seconds(), 0)
	benchResults.add("Start to ready, empty store", "≤ 0.5 s", fmt.Sprintf("%.2f s (%.2f s of CPU)", first.Seconds(), cpu.Seconds()), first <= 500*time.Millisecond, &u)
	s.stop()
	again := s.startAndTime()
	benchResults.add("Start to ready, second start", "≤ 0.5 s", fmt.Sprintf("%.2f s", again.Seconds()), again <= 500*time.Millisecond, nil)
	s.stop()
	dropFileCache(b, s.binary)
	s.startAndTime()
	w := startStopwatch(b, s.pid())
	time.Sleep(5 * time.Second)
	u = w.stop()
	rss := residentMemory(b, s.pid())
	benchResults.add("Memory idle", "≤ 60 MB", fmt.Sprintf("%.0f MB", rss/mb), rss <= 60*mb, &u)
}

// BenchmarkCallsByRequest places one call per API request. Each call is answered and ended at once, without media or
// recording.
func BenchmarkCallsByRequest(b *testing.B) {
	per, rate, u := measureCallsByRequest(b)
	benchResults.add("CPU per 1000 calls without media, one request each", "≤ 1.2 s", fmt.Sprintf("%.2f s at %.0f calls/s", per, rate), per <= 1.2, &u)
}

// measureCallsByRequest places calls by API requests. It returns the CPU seconds per 1000 calls, and the calls per
// second.
func measureCallsByRequest(b *testing.B) (per, rate float64, u usage) {
	b.Helper()
	const calls, atOnce = 4000, 16
	s, far := newMeasuredService(b, wideMediaPorts), startSIPp(b, "uas-instant")
	s.createTrunkForAllNumbers(far.port)
	agent := s.createMuteAgent()
	s.placeCalls(agent, 100, atOnce) // warm-up
	w := startStopwatch(b, s.pid(), far.cmd.Process.Pid)
	s.placeCalls(agent, calls, atOnce)
	u = w.stop()
	return u.cpu.Seconds() * 1000 / calls, calls / u.elapsed.Seconds(), u
}

// placeCalls places a number of calls by API requests, atOnce of them concurrently. It returns when all calls have
// ended.
func (s *service) placeCalls(agent string, calls, atOnce int) {
	s.t.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	for range atOnce {
		wg.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(calls) {
					return
				}
				code, text, _, err := s.sendRequest("POST", "/v1/calls/outbound", object{
					"to": fmt.Sprintf("+1202555%04d", 1000+n), "from": "+12025550100", "agent_id": agent, "record": false,
					"compliance": allHours(),
				})
				if err != nil || code != http.StatusCreated {
					s.t.Errorf("call %d: %d %s %v", n, code, text, err)
					return
				}
			}
		})
	}
	wg.Wait()
	s.await("the end of all calls", 60*time.Second, func() bool {
		list := s.api("GET", "/v1/calls?status=active&limit=1", nil)["data"].([]any)
		return len(list) == 0
	})
}

// BenchmarkCampaign runs a campaign at full speed against a SIPp peer that answers at once. All commits are durable, as
// in production.
func BenchmarkCampaign(b *testing.B) {
	b.Run("pebble", func(b *testing.B) { measureCampaignRate(b, "embedded store", "") })
	b.Run("redis", func(b *testing.B) {
		url, _ := redistest.Start(b)
		measureCampaignRate(b, "Redis", url)
	})
}

func measureCampaignRate(b *testing.B, store, url string) {
	b.Helper()
	const calls = 4000
	s, far := newMeasuredService(b, wideMediaPorts, "CALLBOARD_REDIS_URL="+url), startSIPp(b, "uas-instant")
	s.createTrunkForAllNumbers(far.port)
	agent := s.createMuteAgent()
	pace := object{"pacing": object{"calls_per_minute": 100000, "max_concurrent": 1000}}
	s.awaitCampaignEnd(s.startCampaign(agent, phoneNumbers("+1202555", 200), pace), time.Minute) // warm-up
	w := startStopwatch(b, s.pid(), far.cmd.Process.Pid)
	st := s.awaitCampaignEnd(s.startCampaign(agent, phoneNumbers("+1202556", calls), pace), 2*time.Minute)
	u := w.stop()
	require.Equal(b, calls, st.Outcomes["completed"], st.Outcomes)
	rate := calls / u.elapsed.Seconds()
	per := u.cpu.Seconds() * 1000 / calls
	benchResults.add("Attempts per second without media, campaign, "+store, "≥ 300",
		fmt.Sprintf("%.0f (peer SIPp, %.0f %% of a core)", rate, 100*u.peerCores), rate >= 300, &u)
	benchResults.add("CPU per 1000 of these calls, "+store, "", fmt.Sprintf("%.2f s", per), false, nil)
}

// BenchmarkMedia measures 300 and 1000 concurrent calls with audio in both directions, playback and stereo recording.
// One phone in ten measures the time of each packet. Right before, it measures the cost of the packets alone.
func BenchmarkMedia(b *testing.B) {
	for _, calls := range []int{300, 1000} {
		b.Run(strconv.Itoa(calls), func(b *testing.B) { measureTalkingCalls(b, calls) })
	}
}

func measureTalkingCalls(b *testing.B, calls int) {
	b.Helper()
	least, floor, err := mediatest.MeasurePacketFloor(calls)
	require.NoError(b, err)
	own, ownFloor, err := mediatest.MeasureSocketFloor(calls)
	require.NoError(b, err)
	t := measureMedia(b, calls)
	h, u, cores := t.heard, t.usage, t.cores
	benchResults.add(fmt.Sprintf("Packets of %d calls through a bare sendmmsg/recvmmsg loop", calls), "", fmt.Sprintf("%.2f cores per 1000; p99 %.1f ms", least, floor.Seconds()*1000), false, nil)
	benchResults.add(fmt.Sprintf("The same with a socket for each of %d calls, recvmmsg and sendto", calls), "", fmt.Sprintf("%.2f cores per 1000; p99 %.1f ms", own, ownFloor.Seconds()*1000), false, nil)
	benchResults.add(fmt.Sprintf("Cores for %d calls: G.711 both ways, playback, recording", calls), "≤ 0.5 per 1000, ≤ 2 × the bare loop",
		fmt.Sprintf("%.2f, so %.2f per 1000, %.1f ×; %.1f × that of sockets", u.serviceCores, cores, cores/least, cores/own), cores <= 0.5 && cores <= 2*least, &u)
	benchResults.add(fmt.Sprintf("Interval of the packets of %d calls, by the kernel, %d packets", calls, h.Count), "p99 ≤ 22 ms",
		fmt.Sprintf("p50 %.1f, p99 %.1f, most %.1f ms", h.P50Ms, h.P99Ms, h.MostMs), h.P99Ms <= 22, nil)
	benchResults.add(fmt.Sprintf("Packets a second of each of %d streams", h.Streams), fmt.Sprintf("50 of each of %d", calls),
		fmt.Sprintf("at least %.2f, at most %.2f", h.Slowest, h.Fastest), h.Streams == calls && h.Slowest >= 49.5 && h.Fastest <= 50.5, nil)
	rss := t.rss
	each := (rss - t.idle) / 1024 / float64(calls)
	benchResults.add(fmt.Sprintf("Memory for %d calls, actors included", calls), "≤ 40 KB a call", fmt.Sprintf("%.0f MB, %.0f KB per call above idle", rss/mb, each), each <= 40, nil)
	if calls == 300 {
		measureDuringUpload(b, t.service, t.far, h)
	}
	t.service.kill9() // the end of the calls is not measured
}

// mediaLoad is the measurement of calls with media. The calls are still live.
type mediaLoad struct {
	service *service
	far     *phoneFarm
	heard   intervalReport
	usage   usage
	cores   float64 // average number of CPU cores that the service uses, per 1000 calls
	rss     float64 // memory of the service during the calls, in bytes
	idle    float64 // memory of the service before the calls, in bytes
}

// measureMedia starts a number of calls with media and measures them for some seconds.
func measureMedia(b *testing.B, calls int) mediaLoad {
	b.Helper()
	const window = 15 * time.Second
	s, far := newMeasuredService(b), startPhoneFarm(b)
	s.api("PATCH", "/v1/workspace", object{"limits": object{"concurrent_outbound": max(2*calls, 1000)}}) // campaigns leave some permits to single calls
	s.createTrunkForAllNumbers(far.port)
	agent := s.createAgent(object{
		"name": "talker", "start": "talk",
		"nodes": []object{{"id": "talk", "type": "say", "prompt": strings.Repeat("All our lines are open for this measurement. ", 80)}, {"id": "bye", "type": "end"}},
		"edges": []object{{"from": "talk", "to": "bye", "when": object{"type": "always"}}},
	})
	s.awaitCampaignEnd(s.startCampaign(s.createMuteAgent(), phoneNumbers("+1202555", 5), nil), time.Minute)
	idle := residentMemory(b, s.pid())
	id := s.startCampaign(agent, phoneNumbers("+1202556", calls), object{"pacing": object{"calls_per_minute": 100000, "max_concurrent": calls}})
	s.await("all phones to talk", 90*time.Second, func() bool { return far.sendCommand(b, "count").Phones == calls+5 })
	time.Sleep(3 * time.Second)
	far.sendCommand(b, "watch")
	w := startStopwatch(b, s.pid(), far.cmd.Process.Pid)
	time.Sleep(window)
	u := w.stop()
	h := far.sendCommand(b, "tell")
	st, _ := s.campaignStatus(id)
	require.Equal(b, calls, st.Progress.InProgress, "calls live at the end")
	require.Positive(b, h.Count)
	return mediaLoad{s, far, h, u, u.serviceCores * 1000 / float64(calls), residentMemory(b, s.pid()), idle}
}

// measureDuringUpload measures the live calls again while contacts of a large campaign are uploaded. alone is the
// measurement without the upload.
func measureDuringUpload(b *testing.B, s *service, far *phoneFarm, alone intervalReport) {
	b.Helper()
	const window = 15 * time.Second
	id := s.api("POST", "/v1/campaigns", object{"name": "large", "agent_id": s.createMuteAgent(), "caller_id": object{"number": "+12025550100"}})["id"].(string)
	go func() {
		_, _, _, _ = s.sendRequest("POST", "/v1/campaigns/"+id+"/contacts", csvRows(1_000_000), "Content-Type", "text/csv")
	}() // the upload ends with the service
	received := func() float64 {
		up := s.listData("/v1/campaigns/" + id + "/uploads")
		if len(up) == 0 {
			return 0
		}
		return up[0].(object)["contacts_summary"].(object)["received"].(float64)
	}
	s.await("the upload", time.Minute, func() bool { return received() > 0 })
	before := received()
	far.sendCommand(b, "watch")
	w := startStopwatch(b, s.pid(), far.cmd.Process.Pid)
	time.Sleep(window)
	u := w.stop()
	h := far.sendCommand(b, "tell")
	rate := (received() - before) / window.Seconds()
	require.Positive(b, h.Count)
	benchResults.add(fmt.Sprintf("Interval of the packets of %d calls while a million contacts are uploaded (%.0f a second)", h.Phones, rate), "p99 ≤ 22 ms",
		fmt.Sprintf("p50 %.1f, p99 %.1f, most %.1f ms (without: p99 %.1f ms)", h.P50Ms, h.P99Ms, h.MostMs, alone.P99Ms), h.P99Ms <= 22 && rate > 0, &u)
}

// BenchmarkCommits measures the store drivers, embedded and Redis, without a service.
func BenchmarkCommits(b *testing.B) {
	for _, writers := range []int{16, 256} {
		d, err := pebble.Open(filepath.Join(b.TempDir(), "store"), pebble.Options{})
		require.NoError(b, err)
		measureCommits(b, "embedded store", d, writers, 0)
		url, _ := redistest.Start(b)
		d2, err := redis.Open(context.Background(), url, redis.Options{})
		require.NoError(b, err)
		measureCommits(b, "Redis, appendfsync always", d2, writers, redisProcess(b, url))
	}
}

// measureCommits measures commits from several concurrent writers. Each commit changes a guarded row, and adds a row that
// is in two lists and an event.
func measureCommits(b *testing.B, store string, d persistence.Driver, writers, server int) {
	b.Helper()
	const window = 4 * time.Second
	var done atomic.Int64
	var wg sync.WaitGroup
	w := startStopwatch(b, server)
	end := time.Now().Add(window)
	for n := range writers {
		wg.Go(func() {
			own := persistence.Key{Table: "noun/ws", ID: "own" + strconv.Itoa(n)}
			for version := uint64(0); time.Now().Before(end); version++ {
				id := fmt.Sprintf("row%04d/%09d", n, version)
				_, err := d.Commit(context.Background(), persistence.Commit{
					Log: "ws", Guards: []persistence.Guard{{Key: own, Version: version}},
					Puts: []persistence.Put{
						{Key: own, Value: []byte("some state")},
						{Key: persistence.Key{Table: "noun/ws", ID: id}, Value: make([]byte, 300), Lists: []string{"all", "open"}, Sort: id},
					},
					Events: []persistence.Event{{Subject: id, Payload: make([]byte, 400)}},
				})
				if err != nil {
					b.Errorf("commit: %v", err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	u := w.stop()
	u.serviceCores, u.peerCores = u.peerCores, u.serviceCores // the driver runs in this process, a server in another one
	benchResults.add(fmt.Sprintf("Commits per second, %s, %d writers", store, writers), "", fmt.Sprintf("%.0f", float64(done.Load())/u.elapsed.Seconds()), false, &u)
	require.NoError(b, d.Close())
}
