package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/allow"
	"github.com/callboard/callboard/domain/ask"
)

// demoPause is how often the demo looks at its campaign.
const demoPause = 250 * time.Millisecond

// demoShow plays a campaign on the built-in phones, as a user would: through
// the API, with a webhook receiver of its own.
type demoShow struct {
	dir      string
	out      io.Writer
	receiver *receiver
	base     string
	key      string
}

// newDemo starts the receiver of the demo's webhook.
func newDemo(cfg *configs.Config) (*demoShow, error) {
	dir := filepath.Join(cfg.Data, "demo")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r, err := newReceiver()
	if err != nil {
		return nil, err
	}
	return &demoShow{dir: dir, out: os.Stdout, receiver: r}, nil
}

func (d *demoShow) close() { d.receiver.close() }

// extras let the service reach the demo's receiver, and nothing else more.
func (d *demoShow) extras() extras {
	at := netip.MustParseAddrPort(d.receiver.ln.Addr().String())
	return extras{rootCA: d.receiver.pem, allow: []allow.Rule{{Network: netip.PrefixFrom(at.Addr(), 32), Port: at.Port()}}}
}

func (d *demoShow) say(format string, args ...any) { _, _ = fmt.Fprintf(d.out, format, args...) }

// play shows the demo once per data folder; later starts tell what is there.
func (d *demoShow) play(ctx context.Context, s *service) {
	d.base = s.cfg.BaseURL(netip.MustParseAddrPort(s.ln.Addr().String()))
	key, err := os.ReadFile(filepath.Join(s.cfg.Data, "admin.key"))
	if err == nil {
		d.key = strings.TrimSpace(string(key))
		if _, done := os.Stat(filepath.Join(d.dir, "results.csv")); done == nil {
			err = d.again(ctx)
		} else if !s.cfg.Simulator {
			err = errors.New("it needs the built-in phones: set simulator to true")
		} else {
			err = d.first(ctx)
		}
	}
	if err != nil && ctx.Err() == nil {
		d.say("\n  The demo could not be played: %v\n", err)
	}
}

// again tells what an earlier start left.
func (d *demoShow) again(ctx context.Context) error {
	var campaigns, calls struct {
		Data []struct {
			Name   string `json:"name"`
			Status string `json:"status"`
		} `json:"data"`
	}
	if err := d.api(ctx, http.MethodGet, "/v1/campaigns?limit=100", nil, &campaigns); err != nil {
		return err
	}
	if err := d.api(ctx, http.MethodGet, "/v1/calls?limit=100", nil, &calls); err != nil {
		return err
	}
	d.say("\n  Everything is still here: %d campaigns, %d calls.\n", len(campaigns.Data), len(calls.Data))
	for _, c := range campaigns.Data {
		d.say("    %-12s %s\n", c.Status, c.Name)
	}
	d.say("  The demo is played once per data folder: %s.\n\n", d.dir)
	return nil
}

func (d *demoShow) first(ctx context.Context) error {
	d.say("\n  A campaign of %d contacts on the built-in phones: they answer, press keys, are busy, decline, do not answer …\n\n", len(demoPeople()))
	agent, err := d.agent(ctx)
	if err != nil {
		return err
	}
	var hook struct{ ID string }
	err = d.api(ctx, http.MethodPost, "/v1/webhooks", map[string]any{"url": d.receiver.url, "events": []string{"*"}}, &hook)
	if err != nil {
		return err
	}
	var campaign struct{ ID string }
	err = d.api(ctx, http.MethodPost, "/v1/campaigns", map[string]any{
		"name": "Demo: confirm your appointment", "agent_id": agent, "contacts": demoPeople(),
		"caller_id":  map[string]string{"number": "+15005550100", "name": "Callboard"},
		"pacing":     map[string]int{"calls_per_minute": 300, "max_concurrent": 8},
		"compliance": map[string]any{"calling_hours": map[string]string{"start": "00:00", "end": "24:00", "timezone": "UTC"}},
	}, &campaign)
	if err != nil {
		return err
	}
	if err = d.api(ctx, http.MethodPost, "/v1/campaigns/"+campaign.ID+"/start", nil, nil); err != nil {
		return err
	}
	st, err := d.watch(ctx, campaign.ID)
	if err != nil {
		return err
	}
	if err := d.keep(ctx, campaign.ID); err != nil {
		return err
	}
	d.report(st, agent)
	return d.api(ctx, http.MethodDelete, "/v1/webhooks/"+hook.ID, nil, nil)
}

// agent makes the sample pathway and the agent that speaks it.
func (d *demoShow) agent(ctx context.Context) (string, error) {
	var made struct{ ID string }
	when := func(kind, digits string) map[string]string {
		if digits == "" {
			return map[string]string{"type": kind}
		}
		return map[string]string{"type": kind, "digits": digits}
	}
	err := d.api(ctx, http.MethodPost, "/v1/pathways", map[string]any{
		"name": "Confirm an appointment", "start": "hello",
		"nodes": []map[string]any{
			{"id": "hello", "type": "say", "prompt": "Hello {{name | there}}. This is Callboard, about your appointment on {{day | Monday}}."},
			{"id": "ask", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 5, "retries": 1, "save_as": "answer", "values": []string{"1", "2"}, "prompt": "To confirm, press 1. To decline, press 2."},
			{"id": "yes", "type": "end", "prompt": "Thank you. See you then.", "outcome": "confirmed"},
			{"id": "no", "type": "end", "prompt": "All right. We have cancelled it.", "outcome": "declined"},
			{"id": "none", "type": "end", "prompt": "We will call again. Goodbye.", "notes": "no key pressed"},
		},
		"edges": []map[string]any{
			{"from": "hello", "to": "ask", "when": when("always", "")},
			{"from": "ask", "to": "yes", "when": when("dtmf", "1")},
			{"from": "ask", "to": "no", "when": when("dtmf", "2")},
			{"from": "ask", "to": "none", "when": when("else", "")},
		},
	}, &made)
	if err != nil {
		return "", err
	}
	err = d.api(ctx, http.MethodPost, "/v1/agents", map[string]any{"name": "Receptionist", "pathway_id": made.ID}, &made)
	return made.ID, err
}

// demoPeople are twenty contacts; the last two digits say how their phones
// behave.
func demoPeople() []map[string]any {
	names := []string{
		"Ada", "Basil", "Clara", "Dmitri", "Edith", "Farid", "Greta", "Hugo", "Ines", "Jonas",
		"Kira", "Lars", "Mina", "Noor", "Otto", "Pia", "Quentin", "Rosa", "Samir", "Tilda",
	}
	kinds := []int{11, 12, 14, 11, 18, 11, 13, 12, 11, 19, 11, 17, 16, 11, 15, 12, 20, 11, 14, 11}
	days := []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday"}
	out := make([]map[string]any, len(names))
	for i, name := range names {
		out[i] = map[string]any{
			"phone":   fmt.Sprintf("%s%02d%02d", domain.MagicPrefix, 10+i, kinds[i]),
			"context": map[string]string{"name": name, "day": days[i%len(days)]},
		}
	}
	return out
}

// watch shows a progress bar until the campaign is over.
func (d *demoShow) watch(ctx context.Context, id string) (domain.CampaignStatusObject, error) {
	told := 0
	bar := progressbar.NewOptions(len(demoPeople()), progressbar.OptionSetWriter(d.out), progressbar.OptionSetWidth(40),
		progressbar.OptionShowCount(), progressbar.OptionSetDescription("  calling"), progressbar.OptionSetPredictTime(false))
	for {
		var st domain.CampaignStatusObject
		if err := d.api(ctx, http.MethodGet, "/v1/campaigns/"+id+"/status", nil, &st); err != nil {
			return st, err
		}
		over := st.Progress.Total - st.Progress.Remaining - st.Progress.InProgress
		if terminal() {
			_ = bar.Set(over)
		} else if over >= told+5 {
			told = over
			d.say("  calling: %d of %d\n", over, st.Progress.Total)
		}
		if st.Status.Final() {
			d.say("\n\n")
			return st, nil
		}
		if st.Status == domain.CampaignPaused {
			return st, fmt.Errorf("the campaign was paused: %s", st.PauseReason)
		}
		select {
		case <-ctx.Done():
			return st, ctx.Err()
		case <-time.After(demoPause):
		}
	}
}

// terminal says whether somebody watches.
func terminal() bool {
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// keep fetches recordings and results, as a user would.
func (d *demoShow) keep(ctx context.Context, campaign string) error {
	var calls ask.List[domain.Call]
	for deadline := time.Now().Add(15 * time.Second); ; {
		var page struct{ Data []domain.Call }
		if err := d.api(ctx, http.MethodGet, "/v1/calls?limit=100&campaign_id="+campaign, nil, &page); err != nil {
			return err
		}
		calls.Data = page.Data
		busy := 0
		for i := range calls.Data {
			if calls.Data[i].Processing {
				busy++
			}
		}
		if busy == 0 || time.Now().After(deadline) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(demoPause):
		}
	}
	for i := range calls.Data {
		c := &calls.Data[i]
		if !c.RecordingAvailable {
			continue
		}
		var wav []byte
		if err := d.api(ctx, http.MethodGet, "/v1/calls/"+c.ID+"/recording", nil, &wav); err != nil {
			return err
		}
		name := "recording-" + strings.TrimPrefix(c.To, "+") + ".wav"
		if err := os.WriteFile(filepath.Join(d.dir, name), wav, 0o600); err != nil {
			return err
		}
	}
	var csv []byte
	if err := d.api(ctx, http.MethodGet, "/v1/campaigns/"+campaign+"/results", nil, &csv); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.dir, "results.csv"), csv, 0o600)
}

// report prints what came of it, a webhook as received, and what to do next.
func (d *demoShow) report(st domain.CampaignStatusObject, agent string) {
	d.say("  Outcomes\n")
	words := make([]string, 0, len(st.Outcomes))
	for o := range st.Outcomes {
		words = append(words, string(o))
	}
	sort.Strings(words)
	for _, w := range words {
		if n := st.Outcomes[domain.Outcome(w)]; n > 0 {
			d.say("    %-10s %2d  %s\n", w, n, strings.Repeat("█", n))
		}
	}
	d.say("\n  Recordings (left: caller, right: agent)  %s\n", filepath.Join(d.dir, "recording-*.wav"))
	d.say("  Results                                  %s\n", filepath.Join(d.dir, "results.csv"))
	if r, ok := d.receiver.one("campaign.call.completed"); ok {
		d.say("\n  One of %d webhooks, as received\n%s\n", d.receiver.count(), r)
	}
	d.say(`
  Next: let it call your own SIP phone (a softphone at 192.0.2.20, say)

    export KEY=$(cat %[1]s)
    curl -fsS %[2]s/v1/trunks -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
      -d '{"name":"my phone","proxies":[{"host":"192.0.2.20","port":5060,"transport":"udp"}]}'
    curl -fsS %[2]s/v1/calls/outbound -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
      -d '{"to":"+12025550123","from":"+15005550100","agent_id":"%[3]s"}'

  (a phone on another machine needs CALLBOARD_SIP_ADDR and CALLBOARD_EGRESS_ALLOW with its network; see README.md)

  The service is up at %[2]s. Ctrl-C ends it.

`, filepath.Join(filepath.Dir(d.dir), "admin.key"), d.base, agent)
}

// api asks the service; out may be a *[]byte.
func (d *demoShow) api(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, d.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+d.key)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = text
		return nil
	}
	if out == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, out)
}

// receiver is an HTTPS endpoint on loopback that keeps a few requests.
type receiver struct {
	ln     net.Listener
	server *http.Server
	url    string
	pem    []byte
	mu     sync.Mutex
	got    []received
	n      int
}

type received struct {
	kind string
	text string
}

func (r *receiver) handle(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var e struct{ Type string }
	_ = json.Unmarshal(body, &e) // shown as it is
	var pretty bytes.Buffer
	if json.Indent(&pretty, body, "    ", "  ") != nil {
		pretty.Write(body)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "    POST %s\n", req.URL.Path)
	for _, h := range []string{"Content-Type", "X-Svc-Signature", "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		if v := req.Header.Get(h); v != "" {
			fmt.Fprintf(&b, "    %s: %s\n", h, v)
		}
	}
	fmt.Fprintf(&b, "\n    %s", pretty.String())
	r.mu.Lock()
	r.n++
	if len(r.got) < 500 {
		r.got = append(r.got, received{e.Type, b.String()})
	}
	r.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

func (r *receiver) one(kind string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.got {
		if g.kind == kind {
			return g.text, true
		}
	}
	return "", false
}

func (r *receiver) close() { _ = r.server.Close() }
