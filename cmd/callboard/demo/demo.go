// Package demo plays a demo campaign on the test carrier. Like a customer, it uses the API with the test key. It
// receives the webhooks in its own HTTPS server.
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

// pollInterval is the time between two status requests for the campaign.
const pollInterval = 250 * time.Millisecond

// Demo plays one campaign per data folder through the API and prints its progress and results.
type Demo struct {
	cfg      *configs.Config
	dir      string
	out      io.Writer
	receiver *webhookReceiver
	api      *client.Client
}

// New creates the demo's folder and starts its webhook receiver.
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

// Close stops the webhook receiver.
func (d *Demo) Close() { d.receiver.close() }

// TrustedPeers returns the certificate and the egress rule with which the service can reach the webhook receiver.
func (d *Demo) TrustedPeers() (rootCA []byte, allow []access.EgressRule) {
	at := netip.MustParseAddrPort(d.receiver.ln.Addr().String())
	return d.receiver.pem, []access.EgressRule{{Network: netip.PrefixFrom(at.Addr(), 32), Port: at.Port()}}
}

func (d *Demo) printf(format string, args ...any) { _, _ = fmt.Fprintf(d.out, format, args...) }

// Run runs the demo campaign unless it has already run with this data folder. Then Run lists the existing campaigns
// and counts the calls.
func (d *Demo) Run(ctx context.Context, baseURL string) {
	d.api = &client.Client{URL: baseURL}
	key, err := os.ReadFile(filepath.Join(d.cfg.Data, "test.key"))
	_, played := os.Stat(filepath.Join(d.dir, "results.csv"))
	switch {
	case errors.Is(err, fs.ErrNotExist) && played == nil: // the demo was played, and the user has since deleted test.key
		d.printPlayedOnce()
		err = nil
	case err != nil:
	case played != nil && !d.cfg.Simulator:
		err = errors.New("the demo needs the test carrier: set simulator to true")
	default:
		d.api.Key = strings.TrimSpace(string(key))
		if played == nil {
			err = d.printEarlierRun(ctx)
		} else {
			err = d.playCampaign(ctx)
		}
	}
	if err != nil && ctx.Err() == nil {
		d.printf("\n  The demo failed: %v\n", err)
	}
	if link := d.signInLink(ctx); link != "" {
		d.printf("\n  The dashboard, for five minutes (callboard open makes another link):\n\n    %s\n\n", link)
	}
}

// signInLink returns a sign-in link of the first admin, who is created if there is none. It returns "" if the operator's key
// of the first start is no longer in its file or is refused.
func (d *Demo) signInLink(ctx context.Context) string {
	key, err := os.ReadFile(filepath.Join(d.cfg.Data, "admin.key"))
	if err != nil {
		return ""
	}
	api := &client.Client{URL: d.api.URL, Key: strings.TrimSpace(string(key))}
	users, err := api.ListUsers(ctx, client.ListUsersQuery{Limit: 100})
	if err != nil {
		return ""
	}
	id := ""
	for _, u := range users.Data {
		if u.Role == "admin" {
			id = u.ID // the last one is the oldest
		}
	}
	if id == "" {
		admin, refused := api.CreateUser(ctx, &client.NewUser{Name: "Admin", Role: "admin", Operator: new(true)})
		if refused != nil {
			return ""
		}
		id = admin.ID
	}
	link, err := api.CreateSignInLink(ctx, id)
	if err != nil {
		return ""
	}
	return link.URL
}

// printEarlierRun prints the campaigns and calls of an earlier start.
func (d *Demo) printEarlierRun(ctx context.Context) error {
	campaigns, err := d.api.ListCampaigns(ctx, client.ListCampaignsQuery{Limit: 100})
	if err != nil {
		return err
	}
	calls, err := d.api.ListCalls(ctx, client.ListCallsQuery{Limit: 100})
	if err != nil {
		return err
	}
	d.printf("\n  The store has %d campaigns and %d calls from earlier starts.\n", len(campaigns.Data), len(calls.Data))
	for _, c := range campaigns.Data {
		d.printf("    %-12s %s\n", c.Status, c.Name)
	}
	d.printPlayedOnce()
	return nil
}

func (d *Demo) printPlayedOnce() { d.printf("  The demo plays once per data folder: %s.\n\n", d.dir) }

func (d *Demo) playCampaign(ctx context.Context) error {
	d.printf("\n  A campaign of %d contacts on the test carrier: phones answer, press keys, are busy, decline or do not answer.\n\n", len(contacts()))
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
	st, err := d.watchCampaign(ctx, campaign.ID)
	if err != nil {
		return err
	}
	if err = d.saveResults(ctx, campaign.ID); err != nil {
		return err
	}
	d.printReport(st)
	_, err = d.api.DeleteWebhook(ctx, hook.ID)
	return err
}

// createAgent creates the sample pathway and an agent that uses it.
func (d *Demo) createAgent(ctx context.Context) (string, error) {
	pathway, err := d.api.CreatePathway(ctx, &client.NewPathway{
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
	a, err := d.api.CreateAgent(ctx, &client.NewAgent{Name: "Receptionist", PathwayID: &pathway.ID})
	if err != nil {
		return "", err
	}
	return a.ID, nil
}

// watchCampaign prints the progress of the campaign until it ends.
func (d *Demo) watchCampaign(ctx context.Context, id string) (*client.CampaignStatusObject, error) {
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
			d.printf("  calling: %d of %d\n", over, st.Progress.Total)
		}
		if domain.CampaignStatus(st.Status).Final() {
			d.printf("\n\n")
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

// saveResults downloads the recordings and the results of the campaign.
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
		resp, err := d.api.GetRecording(ctx, c.ID) //nolint:bodyclose // saveDownload closes it
		if err == nil {
			err = saveDownload(resp, filepath.Join(d.dir, "recording-"+strings.TrimPrefix(c.To, "+")+".wav"))
		}
		if err != nil {
			return err
		}
	}
	resp, err := d.api.GetCampaignResults(ctx, campaign) //nolint:bodyclose // saveDownload closes it
	if err != nil {
		return err
	}
	return saveDownload(resp, filepath.Join(d.dir, "results.csv"))
}

// saveDownload writes the body of a response to a file.
func saveDownload(resp *http.Response, path string) error {
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// printReport prints the outcomes, one received webhook and the next steps.
func (d *Demo) printReport(st *client.CampaignStatusObject) {
	d.printf("  Outcomes\n")
	for _, w := range slices.Sorted(maps.Keys(st.Outcomes)) {
		if n := st.Outcomes[w]; n > 0 {
			d.printf("    %-10s %2d  %s\n", w, n, strings.Repeat("█", int(n)))
		}
	}
	d.printf("\n  Recordings (left: caller, right: agent)  %s\n", filepath.Join(d.dir, "recording-*.wav"))
	d.printf("  Results                                  %s\n", filepath.Join(d.dir, "results.csv"))
	if r, ok := d.receiver.firstRequest("campaign.call.completed"); ok {
		d.printf("\n  One of %d webhooks, as received\n%s\n", d.receiver.count(), r)
	}
	d.printf(`
  The demo ran in the test environment: it called no real phone and is not billed. To see it in a browser, open the dashboard by the link below and switch to Test, or use the API with the test key:

    curl -fsS %[1]s/v1/calls -H "Authorization: Bearer $(cat %[2]s)"

  Next: call your own SIP phone, see "Your own phone in five minutes" in README.md.

  The service runs at %[1]s. Press Ctrl-C to stop it.

`, d.api.URL, filepath.Join(filepath.Dir(d.dir), "test.key"))
}
