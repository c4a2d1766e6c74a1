// Package demo plays a demo campaign on the built-in phones, through the API and with
// a webhook receiver of its own.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/logging"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// pollInterval is how often the demo looks at its campaign.
const pollInterval = 250 * time.Millisecond

// Demo plays a campaign on the built-in phones, as a user would: through
// the API with the test key, with a webhook receiver of its own.
type Demo struct {
	cfg      *configs.Config
	dir      string
	out      io.Writer
	receiver *webhookReceiver
	api      *client.Client
}

// New starts the receiver of the demo's webhook.
func New(cfg *configs.Config) (*Demo, error) {
	dir := filepath.Join(cfg.Data, "demo")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r, err := newWebhookReceiver()
	if err != nil {
		return nil, err
	}
	return &Demo{cfg: cfg, dir: dir, out: os.Stdout, receiver: r}, nil
}

// Close stops the receiver.
func (d *Demo) Close() { d.receiver.close() }

// TrustedPeers lets the service reach the demo's receiver.
func (d *Demo) TrustedPeers() (rootCA []byte, allow []access.Rule) {
	at := netip.MustParseAddrPort(d.receiver.ln.Addr().String())
	return d.receiver.pem, []access.Rule{{Network: netip.PrefixFrom(at.Addr(), 32), Port: at.Port()}}
}

func (d *Demo) say(format string, args ...any) { _, _ = fmt.Fprintf(d.out, format, args...) }

// Run shows the demo once per data folder; later starts list what is there.
func (d *Demo) Run(ctx context.Context, baseURL string) {
	d.api = &client.Client{URL: baseURL}
	key, err := os.ReadFile(filepath.Join(d.cfg.Data, "test.key"))
	_, played := os.Stat(filepath.Join(d.dir, "results.csv"))
	switch {
	case errors.Is(err, fs.ErrNotExist) && played == nil: // whoever keeps the key elsewhere has deleted it
		d.printPlayedOnce()
		err = nil
	case err != nil:
	case played != nil && !d.cfg.Simulator:
		err = errors.New("it needs the built-in phones: set simulator to true")
	default:
		d.api.Key = strings.TrimSpace(string(key))
		if played == nil {
			err = d.showEarlier(ctx)
		} else {
			err = d.playCampaign(ctx)
		}
	}
	if err != nil && ctx.Err() == nil {
		d.say("\n  The demo could not be played: %v\n", err)
	}
}

// showEarlier tells what an earlier start left.
func (d *Demo) showEarlier(ctx context.Context) error {
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
	d.printPlayedOnce()
	return nil
}

func (d *Demo) printPlayedOnce() { d.say("  The demo is played once per data folder: %s.\n\n", d.dir) }

func (d *Demo) playCampaign(ctx context.Context) error {
	d.say("\n  A campaign of %d contacts on the built-in phones: they answer, press keys, are busy, decline, do not answer …\n\n", len(contacts()))
	agent, err := d.createAgent(ctx)
	if err != nil {
		return err
	}
	hook, err := d.api.CreateWebhook(ctx, &client.NewWebhook{URL: d.receiver.url, Events: []string{"*"}})
	if err != nil {
		return err
	}
	campaign, err := d.api.CreateCampaign(ctx, &client.NewCampaign{
		Name: "Demo: confirm your appointment", AgentID: &agent, Contacts: contacts(),
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
	if err = d.saveResults(ctx, campaign.ID); err != nil {
		return err
	}
	d.report(st)
	_, err = d.api.DeleteWebhook(ctx, hook.ID)
	return err
}

// createAgent makes the sample pathway and the agent that speaks it.
func (d *Demo) createAgent(ctx context.Context) (string, error) {
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

// watch shows a progress bar until the campaign is over.
func (d *Demo) watch(ctx context.Context, id string) (*client.CampaignStatusObject, error) {
	printed := int64(0)
	bar := progressbar.NewOptions(len(contacts()), progressbar.OptionSetWriter(d.out), progressbar.OptionSetWidth(40),
		progressbar.OptionShowCount(), progressbar.OptionSetDescription("  calling"), progressbar.OptionSetPredictTime(false))
	for {
		st, err := d.api.GetCampaignStatus(ctx, id)
		if err != nil {
			return nil, err
		}
		over := st.Progress.Total - st.Progress.Remaining - st.Progress.InProgress
		if logging.StdoutIsTerminal() {
			_ = bar.Set64(over)
		} else if over >= printed+5 {
			printed = over
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
		case <-time.After(pollInterval):
		}
	}
}

// saveResults fetches recordings and results, as a user would.
func (d *Demo) saveResults(ctx context.Context, campaign string) error {
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
		case <-time.After(pollInterval):
		}
	}
	for i := range calls.Data {
		c := &calls.Data[i]
		if !c.RecordingAvailable {
			continue
		}
		resp, err := d.api.GetRecording(ctx, c.ID) //nolint:bodyclose // saved does
		if err == nil {
			err = saveDownload(resp, filepath.Join(d.dir, "recording-"+strings.TrimPrefix(c.To, "+")+".wav"))
		}
		if err != nil {
			return err
		}
	}
	resp, err := d.api.GetCampaignResults(ctx, campaign) //nolint:bodyclose // saved does
	if err != nil {
		return err
	}
	return saveDownload(resp, filepath.Join(d.dir, "results.csv"))
}

// saveDownload keeps a download as a file.
func saveDownload(resp *http.Response, path string) error {
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// report prints what came of it, a webhook as received, and what to do next.
func (d *Demo) report(st *client.CampaignStatusObject) {
	d.say("  Outcomes\n")
	for _, w := range slices.Sorted(maps.Keys(st.Outcomes)) {
		if n := st.Outcomes[w]; n > 0 {
			d.say("    %-10s %2d  %s\n", w, n, strings.Repeat("█", int(n)))
		}
	}
	d.say("\n  Recordings (left: caller, right: agent)  %s\n", filepath.Join(d.dir, "recording-*.wav"))
	d.say("  Results                                  %s\n", filepath.Join(d.dir, "results.csv"))
	if r, ok := d.receiver.first("campaign.call.completed"); ok {
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
