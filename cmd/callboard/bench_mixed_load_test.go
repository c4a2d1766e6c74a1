package main_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callboard/callboard/sip/siptest"
)

var (
	benchProfile = flag.String("bench-profile", "", "folder for profiles of what measured services do") //nolint:gochecknoglobals // a flag
	profiles     atomic.Int64                                                                           //nolint:gochecknoglobals // numbers their files
)

// enableProfiling gives a service an admin listener if -bench-profile is set.
func (s *service) enableProfiling() {
	if *benchProfile != "" {
		s.admin = "127.0.0.1:" + strconv.Itoa(siptest.Port(s.t))
		s.env = append(s.env, "CALLBOARD_ADMIN_ADDR="+s.admin)
	}
}

// saveProfiles saves CPU profiles of the service in the background, one file per two seconds, until the service ends.
// Measurements during this time are invalid.
func (s *service) saveProfiles() {
	if s.admin == "" {
		return
	}
	exited, name := s.processExited, strings.ReplaceAll(s.t.Name(), "/", "-")
	go func() {
		for {
			path := filepath.Join(*benchProfile, fmt.Sprintf("%s-%04d.pprof", name, profiles.Add(1)))
			_ = saveProfile("http://"+s.admin, path) // fails while the service starts or ends
			select {
			case <-exited:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
}

// BenchmarkMixedLoad produces the load that make profile uses: calls with media, short outbound and inbound calls, API
// requests and webhook deliveries at moderate rates. It adds no row to the table of make bench.
func BenchmarkMixedLoad(b *testing.B) {
	if *benchProfile == "" {
		b.Skip("make profile runs it")
	}
	const window = 2 * time.Minute
	talking, short, far := startPhoneFarm(b), startSIPp(b, "uas-instant"), newCountingReceiver(b)
	s := newMeasuredService(b, wideMediaPorts)
	s.createTrunkForAllNumbers(talking.port)
	s.createInboundAgent(s.createTrunk("+1202557", short.port))
	s.createWebhook(far.server.URL, nil, "*")
	agent := s.createAgent(object{
		"name": "talker", "start": "talk",
		"nodes": []object{{"id": "talk", "type": "say", "prompt": strings.Repeat("All our lines are open until eight. ", 20)}, {"id": "bye", "type": "end"}},
		"edges": []object{{"from": "talk", "to": "bye", "when": object{"type": "always"}}},
	})
	mute := s.createMuteAgent()
	s.startCampaign(agent, phoneNumbers("+1202556", 2000), object{"pacing": object{"calls_per_minute": 300, "max_concurrent": 150}})
	running := s.startCampaign(mute, phoneNumbers("+1202557", 9000), object{"pacing": object{"calls_per_minute": 3000, "max_concurrent": 300}})
	var load sync.WaitGroup
	load.Go(func() { measureCallsInto(b, s.pid(), s.sip, int(window/time.Second)*50, 50) })
	load.Go(func() {
		s.makeEvents(b, 100, window, func(n int) (method, path, body string) {
			return http.MethodGet, []string{"/v1/campaigns/" + running + "/status", "/v1/calls?limit=20", "/v1/campaigns/" + running, "/v1/events?limit=20"}[n%4], ""
		})
	})
	load.Go(func() {
		s.makeEvents(b, 20, window, func(int) (method, path, body string) {
			return http.MethodPost, "/v1/calls/outbound", `{"to":"+12025570001","from":"+12025550100","agent_id":"` + mute + `","record":false,"compliance":{"calling_hours":{"start":"00:00","end":"24:00","timezone":"UTC"}}}`
		})
	})
	load.Wait()
	s.kill9()
}

func saveProfile(admin, path string) error {
	resp, err := http.Get(admin + "/debug/pprof/profile?seconds=2")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	profile, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(path, profile, 0o600)
}
