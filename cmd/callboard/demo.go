package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// demoPause is how often the demo looks at its campaign.
const demoPause = 250 * time.Millisecond

// demoShow plays a campaign on the built-in phones, as a user would: through
// the API with the test key, with a webhook receiver of its own.
type demoShow struct {
	dir      string
	out      io.Writer
	receiver *receiver
	api      *client.Client
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
	return extras{rootCA: d.receiver.pem, allow: []access.Rule{{Network: netip.PrefixFrom(at.Addr(), 32), Port: at.Port()}}}
}

func (d *demoShow) say(format string, args ...any) { _, _ = fmt.Fprintf(d.out, format, args...) }

// play shows the demo once per data folder; later starts tell what is there.
func (d *demoShow) play(ctx context.Context, s *service) {
	d.api = &client.Client{URL: s.cfg.BaseURL(s.front)}
	key, err := os.ReadFile(filepath.Join(s.cfg.Data, "test.key"))
	_, played := os.Stat(filepath.Join(d.dir, "results.csv"))
	switch {
	case errors.Is(err, fs.ErrNotExist) && played == nil: // whoever keeps the key elsewhere has deleted it
		d.once()
		err = nil
	case err != nil:
	case played != nil && !s.cfg.Simulator:
		err = errors.New("it needs the built-in phones: set simulator to true")
	default:
		d.api.Key = strings.TrimSpace(string(key))
		if played == nil {
			err = d.again(ctx)
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
	campaigns, err := d.api.ListCampaigns(ctx, client.ListCampaignsQuery{Limit: 100})
	if err != nil {
		return err
	}
	calls, err := d.api.ListCalls(ctx, client.ListCallsQuery{Limit: 100})
	if err != nil {
		return err
	}
	d.say("\n  Everything is still here: %d campaigns, %d calls.\n", len(campaigns.Data), len(calls.Data))
	for _, c := range campaigns.Data {
		d.say("    %-12s %s\n", c.Status, c.Name)
	}
	d.once()
	return nil
}

func (d *demoShow) once() { d.say("  The demo is played once per data folder: %s.\n\n", d.dir) }

func (d *demoShow) first(ctx context.Context) error {
	d.say("\n  A campaign of %d contacts on the built-in phones: they answer, press keys, are busy, decline, do not answer …\n\n", len(demoPeople()))
	agent, err := d.agent(ctx)
	if err != nil {
		return err
	}
	hook, err := d.api.CreateWebhook(ctx, &client.NewWebhook{URL: d.receiver.url, Events: []string{"*"}})
	if err != nil {
		return err
	}
	campaign, err := d.api.CreateCampaign(ctx, &client.NewCampaign{
		Name: "Demo: confirm your appointment", AgentID: &agent, Contacts: demoPeople(),
		CallerID:   &client.NewCallerID{Number: new("+15005550100"), Name: new("Callboard")},
		Pacing:     &client.NewPacing{CallsPerMinute: new(int64(300)), MaxConcurrent: new(int64(8))},
		Compliance: &client.NewCompliance{CallingHours: &client.NewHours{Start: "00:00", End: "24:00", Timezone: new("UTC")}},
	})
	if err != nil {
		return err
	}
	if _, err = d.api.StartCampaign(ctx, campaign.ID); err != nil {
		return err
	}
	st, err := d.watch(ctx, campaign.ID)
	if err != nil {
		return err
	}
	if err = d.keep(ctx, campaign.ID); err != nil {
		return err
	}
	d.report(st)
	_, err = d.api.DeleteWebhook(ctx, hook.ID)
	return err
}

// agent makes the sample pathway and the agent that speaks it.
func (d *demoShow) agent(ctx context.Context) (string, error) {
	made, err := d.api.CreatePathway(ctx, &client.NewPathway{
		Name: "Confirm an appointment", Start: "hello",
		Nodes: []client.Node{
			{ID: "hello", Type: "say", Prompt: new("Hello {{name | there}}, this is Callboard about your appointment on {{day | Monday}}.")},
			{
				ID: "ask", Type: "collect", Input: new("dtmf"), Length: new(int64(1)), TimeoutSeconds: new(5.0), Retries: new(int64(1)),
				SaveAs: new("answer"), Values: []string{"1", "2"}, Prompt: new("To confirm, press 1. To decline, press 2."),
			},
			{ID: "yes", Type: "end", Prompt: new("Thank you. See you then."), Outcome: new("confirmed")},
			{ID: "no", Type: "end", Prompt: new("All right. We have cancelled it."), Outcome: new("declined")},
			{ID: "none", Type: "end", Prompt: new("We will call again. Goodbye."), Notes: new("no key pressed")},
		},
		Edges: []client.Edge{
			{From: "hello", To: "ask", When: client.When{Type: "always"}},
			{From: "ask", To: "yes", When: client.When{Type: "dtmf", Digits: new("1")}},
			{From: "ask", To: "no", When: client.When{Type: "dtmf", Digits: new("2")}},
			{From: "ask", To: "none", When: client.When{Type: "else"}},
		},
	})
	if err != nil {
		return "", err
	}
	a, err := d.api.CreateAgent(ctx, &client.NewAgent{Name: "Receptionist", PathwayID: &made.ID})
	if err != nil {
		return "", err
	}
	return a.ID, nil
}

// demoPeople are twenty contacts; the last two digits say how their phones
// behave.
func demoPeople() []client.NewContact {
	names := []string{
		"Ada", "Basil", "Clara", "Dmitri", "Edith", "Farid", "Greta", "Hugo", "Ines", "Jonas",
		"Kira", "Lars", "Mina", "Noor", "Otto", "Pia", "Quentin", "Rosa", "Samir", "Tilda",
	}
	kinds := []int{11, 12, 14, 11, 18, 11, 13, 12, 11, 19, 11, 17, 16, 11, 15, 12, 20, 11, 14, 11}
	days := []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday"}
	out := make([]client.NewContact, len(names))
	for i, name := range names {
		out[i] = client.NewContact{
			Phone:   fmt.Sprintf("%s%02d%02d", domain.MagicPrefix, 10+i, kinds[i]),
			Context: map[string]any{"name": name, "day": days[i%len(days)]},
		}
	}
	return out
}

// watch shows a progress bar until the campaign is over.
func (d *demoShow) watch(ctx context.Context, id string) (*client.CampaignStatusObject, error) {
	told := int64(0)
	bar := progressbar.NewOptions(len(demoPeople()), progressbar.OptionSetWriter(d.out), progressbar.OptionSetWidth(40),
		progressbar.OptionShowCount(), progressbar.OptionSetDescription("  calling"), progressbar.OptionSetPredictTime(false))
	for {
		st, err := d.api.GetCampaignStatus(ctx, id)
		if err != nil {
			return nil, err
		}
		over := st.Progress.Total - st.Progress.Remaining - st.Progress.InProgress
		if terminal() {
			_ = bar.Set64(over)
		} else if over >= told+5 {
			told = over
			d.say("  calling: %d of %d\n", over, st.Progress.Total)
		}
		if domain.CampaignStatus(st.Status).Final() {
			d.say("\n\n")
			return st, nil
		}
		if st.Status == string(domain.CampaignPaused) {
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
	var calls *client.ListCall
	for deadline := time.Now().Add(15 * time.Second); ; {
		var err error
		if calls, err = d.api.ListCalls(ctx, client.ListCallsQuery{Limit: 100, CampaignID: campaign}); err != nil {
			return err
		}
		busy := slices.ContainsFunc(calls.Data, func(c client.Call) bool { return c.Processing })
		if !busy || time.Now().After(deadline) {
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
		resp, err := d.api.GetRecording(ctx, c.ID) //nolint:bodyclose // saved does
		if err == nil {
			err = saved(resp, filepath.Join(d.dir, "recording-"+strings.TrimPrefix(c.To, "+")+".wav"))
		}
		if err != nil {
			return err
		}
	}
	resp, err := d.api.GetCampaignResults(ctx, campaign) //nolint:bodyclose // saved does
	if err != nil {
		return err
	}
	return saved(resp, filepath.Join(d.dir, "results.csv"))
}

// saved keeps a download as a file.
func saved(resp *http.Response, path string) error {
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// report prints what came of it, a webhook as received, and what to do next.
func (d *demoShow) report(st *client.CampaignStatusObject) {
	d.say("  Outcomes\n")
	for _, w := range slices.Sorted(maps.Keys(st.Outcomes)) {
		if n := st.Outcomes[w]; n > 0 {
			d.say("    %-10s %2d  %s\n", w, n, strings.Repeat("█", int(n)))
		}
	}
	d.say("\n  Recordings (left: caller, right: agent)  %s\n", filepath.Join(d.dir, "recording-*.wav"))
	d.say("  Results                                  %s\n", filepath.Join(d.dir, "results.csv"))
	if r, ok := d.receiver.one("campaign.call.completed"); ok {
		d.say("\n  One of %d webhooks, as received\n%s\n", d.receiver.count(), r)
	}
	program, data := os.Args[0], filepath.Dir(d.dir)
	d.say(`
  The demo ran in the test environment: it rang nobody and counts in no bill. See it in a browser, as a user of that environment:

    %[1]s users create Ada --role admin --environment test --data %[2]s
    %[1]s users link USER_ID --data %[2]s

  or at the API, with the test key:

    curl -fsS %[3]s/v1/calls -H "Authorization: Bearer $(cat %[4]s)"

  Next: let it call your own SIP phone, as README.md shows under "Your own phone in five minutes".

  The service is up at %[3]s. Ctrl-C ends it.

`, program, data, d.api.URL, filepath.Join(data, "test.key"))
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
