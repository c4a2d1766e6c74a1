package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

// standingOf is how a service and a workspace do.
type standingOf struct {
	URL         string             `json:"url"`
	Ready       bool               `json:"ready"`
	Reason      string             `json:"reason,omitempty"` // why not
	WorkspaceID string             `json:"workspace_id"`
	Workspace   string             `json:"workspace"`
	Environment string             `json:"environment"`
	LiveCalls   int                `json:"live_calls"`
	MoreCalls   bool               `json:"more_calls"` // live_calls is the most that is counted
	Campaigns   []campaignStanding `json:"campaigns"`  // running and paused
	Trunks      []trunkStanding    `json:"trunks"`
	Endpoints   []endpointStanding `json:"endpoints"` // not active
	Today       *client.Used       `json:"today"`
	Nodes       []client.NodeNow   `json:"nodes,omitempty"`  // of an install of several, for operators
	Unread      []unread           `json:"unread,omitempty"` // what the service could not answer for: it stands here as if there were none

	failed error // why
}

// unread is what a service could not answer for.
type unread struct {
	What  string `json:"what"`
	Error string `json:"error"`
}

type campaignStanding struct {
	ID     string                       `json:"id"`
	Name   string                       `json:"name"`
	Status *client.CampaignStatusObject `json:"status"`
}

type trunkStanding struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Health string `json:"health"`
	Error  string `json:"error,omitempty"`
}

type endpointStanding struct {
	ID     string `json:"id"`
	URL    string `json:"url"`
	Status string `json:"status"`
}

func status() *cobra.Command {
	return command("status", "Show how a service and its workspace do; exit code 1 while it is not ready",
		"callboard status\ncallboard status --profile production --json", cobra.NoArgs, func(s *session, _ []string) error {
			st := &standingOf{URL: s.URL, Campaigns: []campaignStanding{}, Trunks: []trunkStanding{}, Endpoints: []endpointStanding{}}
			once := *s.Client
			once.Retries = 0
			_, err := once.Readyz(s.ctx())
			var refusal *client.Error
			switch {
			case err == nil:
				st.Ready = true
			case errors.As(err, &refusal) && refusal.Status == http.StatusServiceUnavailable:
				st.Reason = refusal.Message
				if refusal.Code == "" {
					st.Reason = strings.TrimSpace(string(refusal.Body))
				}
			default:
				return err
			}
			if err = s.gather(st); err != nil {
				return err
			}
			if s.asJSON {
				err = s.json(st)
			} else {
				err = s.standing(st)
			}
			switch {
			case err != nil:
				return err
			case st.failed != nil:
				return st.failed
			case !st.Ready:
				return fmt.Errorf("the service is %w", ErrBad)
			}
			return nil
		})
}

// most bounds what a status looks through.
const most = 100

// gather reads all that there is to tell. What the service cannot answer for now is
// left out, and told.
func (s *session) gather(st *standingOf) error {
	w, err := s.GetWorkspace(s.ctx())
	if err != nil {
		return err
	}
	st.WorkspaceID, st.Workspace, st.Environment = w.ID, w.Name, s.environment(w)
	for _, part := range []struct {
		what string
		read func(*standingOf) error
	}{{"calls", s.callsOf}, {"campaigns", s.campaignsOf}, {"trunks", s.trunksOf}, {"endpoints", s.endpointsOf}, {"today", s.todayOf}, {"nodes", s.nodesOf}} {
		err := part.read(st)
		var refusal *client.Error
		switch {
		case errors.As(err, &refusal) && refusal.Status >= http.StatusInternalServerError:
			st.Unread = append(st.Unread, unread{part.what, err.Error()})
			st.failed = errors.Join(st.failed, fmt.Errorf("%s: not known: %w", part.what, err))
			hasty := *s.Client
			hasty.Retries = 0 // the others are not waited for, too
			s.Client = &hasty
		case err != nil:
			return err
		}
	}
	return nil
}

func (s *session) callsOf(st *standingOf) error {
	live, err := s.ListCalls(s.ctx(), client.ListCallsQuery{Status: "active", Limit: most})
	if err == nil {
		st.LiveCalls, st.MoreCalls = len(live.Data), live.HasMore
	}
	return err
}

func (s *session) campaignsOf(st *standingOf) error {
	for _, status := range []string{"running", "paused"} {
		page, err := s.ListCampaigns(s.ctx(), client.ListCampaignsQuery{Status: status, Limit: 20})
		if err != nil {
			return err
		}
		for _, c := range page.Data {
			one, err := s.GetCampaignStatus(s.ctx(), c.ID)
			if err != nil {
				return err
			}
			st.Campaigns = append(st.Campaigns, campaignStanding{c.ID, c.Name, one})
		}
	}
	return nil
}

func (s *session) trunksOf(st *standingOf) error {
	for t, err := range s.AllTrunks(s.ctx(), client.ListTrunksQuery{}) {
		if err != nil {
			return err
		}
		one := trunkStanding{ID: t.ID, Name: t.Name}
		if t.Health != nil {
			one.Health, one.Error = t.Health.Status, t.Health.LastError
		}
		st.Trunks = append(st.Trunks, one)
	}
	return nil
}

func (s *session) endpointsOf(st *standingOf) error {
	for h, err := range s.AllWebhooks(s.ctx(), client.ListWebhooksQuery{}) {
		if err != nil {
			return err
		}
		if h.Status != "active" {
			st.Endpoints = append(st.Endpoints, endpointStanding{h.ID, h.URL, h.Status})
		}
	}
	return nil
}

func (s *session) todayOf(st *standingOf) error {
	today := time.Now().UTC().Format(time.DateOnly)
	used, err := s.GetUsage(s.ctx(), client.GetUsageQuery{From: today, To: today})
	if err == nil {
		st.Today = &used.Total
	}
	return err
}

// nodesOf reads the nodes of an install of several; none for whoever is no operator.
func (s *session) nodesOf(st *standingOf) error {
	list, err := s.ListNodes(s.ctx())
	var refusal *client.Error
	if errors.As(err, &refusal) && (refusal.Status == http.StatusForbidden || refusal.Status == http.StatusNotFound) {
		return nil
	}
	if err == nil {
		st.Nodes = slices.DeleteFunc(list.Data, func(n client.NodeNow) bool { return n.Address == "" }) // that is alone
	}
	return err
}

func (s *session) standing(st *standingOf) error {
	w := tabwriter.NewWriter(s.out(), 0, 4, 2, ' ', 0)
	ready := "ready"
	if !st.Ready {
		ready = "not ready: " + st.Reason
	}
	cells(w, "service", st.URL+" "+ready)
	cells(w, "workspace", st.Workspace+" ("+st.Environment+")")
	if !st.lacks("calls") {
		cells(w, "live calls", fmt.Sprintf("%d%s", st.LiveCalls, map[bool]string{true: " or more"}[st.MoreCalls]))
	}
	for _, c := range st.Campaigns {
		cells(w, "campaign", c.ID+" "+c.Name+" "+standing(c.Status))
	}
	for _, t := range st.Trunks {
		cells(w, "trunk", strings.TrimSpace(t.ID+" "+t.Name+" "+t.Health+" "+t.Error))
	}
	for _, e := range st.Endpoints {
		cells(w, "endpoint", e.ID+" "+e.URL+" "+e.Status)
	}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		cells(w, "node", fmt.Sprintf("%s %s: %d shards, %d live calls, %s", n.ID, n.Address, n.Shards, n.LiveCalls, nodeWords(n)))
	}
	if st.Today != nil {
		cells(w, "today", fmt.Sprintf("%d attempts, %d inbound calls, %.1f minutes, %d messages", st.Today.Attempts, st.Today.InboundCalls, st.Today.Minutes, st.Today.SMS))
	}
	for _, u := range st.Unread {
		cells(w, u.What, "not known: "+u.Error)
	}
	return w.Flush()
}

// lacks says whether something could not be read.
func (st *standingOf) lacks(what string) bool {
	return slices.ContainsFunc(st.Unread, func(u unread) bool { return u.What == what })
}

// stopped is what pause-all did.
type stopped struct {
	Paused    []string `json:"paused"`
	Cancelled []string `json:"cancelled_bulk_jobs"`
	HungUp    int      `json:"hung_up"`
}

func pauseAll() *cobra.Command {
	hangUp, bulk, everywhere := false, false, false
	cmd := command("pause-all", "Pause every running campaign of the workspace", "callboard pause-all\ncallboard pause-all --bulk --hangup\ncallboard pause-all --everywhere", cobra.NoArgs, func(s *session, _ []string) error {
		if everywhere {
			return s.stopDialling("")
		}
		done := &stopped{Paused: []string{}, Cancelled: []string{}}
		err := s.halt(done, bulk, hangUp)
		if s.asJSON {
			return errors.Join(s.json(done), err)
		}
		s.say("%d campaigns are paused, %d bulk jobs cancelled, %d calls hung up", len(done.Paused), len(done.Cancelled), done.HungUp)
		return err
	})
	cmd.Long = "Pauses every campaign that runs or is scheduled: nobody is rung any more, live calls go on. Each is resumed by callboard campaigns resume. " +
		"--everywhere takes an operator key and stops all dialling in all workspaces instead; callboard operator resume-dialling lets all of it go on."
	cmd.Flags().BoolVar(&bulk, "bulk", false, "cancel bulk jobs that are under way, too: these cannot be resumed")
	cmd.Flags().BoolVar(&hangUp, "hangup", false, "end live calls, too")
	cmd.Flags().BoolVar(&everywhere, "everywhere", false, "stop all dialling, in all workspaces (callboard operator stop-dialling)")
	cmd.MarkFlagsMutuallyExclusive("everywhere", "bulk")
	cmd.MarkFlagsMutuallyExclusive("everywhere", "hangup")
	return cmd
}

// halt goes on after what cannot be stopped and tells of it in the end.
func (s *session) halt(done *stopped, bulk, hangUp bool) error {
	ctx := s.ctx()
	var faults []error
	for _, status := range []string{"running", "scheduled"} {
		faults = append(faults, each(s.AllCampaigns(ctx, client.ListCampaignsQuery{Status: status}), func(c *client.Campaign) (string, error) {
			_, err := s.PauseCampaign(ctx, c.ID)
			if err == nil {
				done.Paused = append(done.Paused, c.ID)
			}
			return c.ID, err
		}))
	}
	if bulk {
		faults = append(faults, each(s.AllBulks(ctx, client.ListBulksQuery{}), func(b *client.Bulk) (string, error) {
			if b.CompletedAt != nil {
				return b.ID, nil
			}
			_, err := s.CancelBulk(ctx, b.ID)
			if err == nil {
				done.Cancelled = append(done.Cancelled, b.ID)
			}
			return b.ID, err
		}))
	}
	if hangUp {
		faults = append(faults, each(s.AllCalls(ctx, client.ListCallsQuery{Status: "active"}), func(c *client.Call) (string, error) {
			_, err := s.HangUpCall(ctx, c.ID)
			if err == nil {
				done.HungUp++
			}
			return c.ID, err
		}))
	}
	return errors.Join(faults...)
}

// each does something to each row and gathers what failed, but for what was
// over by itself.
func each[T any](all iter.Seq2[T, error], do func(*T) (id string, err error)) error {
	var faults []error
	for one, err := range all {
		if err != nil {
			return errors.Join(append(faults, err)...)
		}
		if id, failed := do(&one); failed != nil && !over(failed) {
			faults = append(faults, fmt.Errorf("%s: %w", id, failed))
		}
	}
	return errors.Join(faults...)
}

// over: it ended by itself meanwhile.
func over(err error) bool {
	var refusal *client.Error
	return errors.As(err, &refusal) && (refusal.Status == http.StatusConflict || refusal.Status == http.StatusNotFound)
}

// Usage shows what was used and what it costs, from the API.
func Usage(cmd *cobra.Command, c *client.Client, from, to string, asJSON bool) error {
	s := &session{Client: c, cmd: cmd, asJSON: asJSON}
	u, err := s.GetUsage(s.ctx(), client.GetUsageQuery{From: from, To: to})
	if err != nil || asJSON {
		return errors.Join(err, s.jsonOf(u, err))
	}
	w := tabwriter.NewWriter(s.out(), 0, 4, 2, ' ', 0)
	cells(w, "DAY", "ATTEMPTS", "INBOUND", "MINUTES", "SMS", "AMOUNT")
	for _, d := range u.Days {
		cells(w, d.Day, d.Attempts, d.InboundCalls, fmt.Sprintf("%.1f", d.Minutes), d.SMS, d.Amount.Amount+" "+d.Amount.Currency)
	}
	t := u.Total
	cells(w, "total", t.Attempts, t.InboundCalls, fmt.Sprintf("%.1f", t.Minutes), t.SMS, t.Amount.Amount+" "+t.Amount.Currency)
	return w.Flush()
}

func (s *session) jsonOf(v any, err error) error {
	if err != nil {
		return nil //nolint:nilerr // there is nothing to print
	}
	return s.json(v)
}

func rawAPI() *cobra.Command {
	body := ""
	var headers []string
	cmd := command("api METHOD PATH", "Send any request of the API and print the answer",
		`callboard api GET /v1/workspace
callboard api PATCH /v1/workspace -d '{"name": "North"}'
callboard api POST /v1/knowledge-bases -d @base.json`,
		cobra.ExactArgs(2), func(s *session, args []string) error {
			method := strings.ToUpper(args[0])
			if !strings.HasPrefix(args[1], "/") {
				return Misuse("PATH must begin with /, such as /v1/calls?limit=1")
			}
			at, err := url.Parse(args[1])
			if err != nil || at.Host != "" {
				return Misuse("PATH must be a path of the API, such as /v1/calls?limit=1")
			}
			text, err := s.body(body)
			if err != nil {
				return err
			}
			return s.raw(method, at.RequestURI(), text, headers)
		})
	cmd.Flags().StringVarP(&body, "data", "d", "", "the JSON body; @FILE reads it from a file, @- from the standard input")
	cmd.Flags().StringArrayVarP(&headers, "header", "H", nil, "'Name: value' of a header; may be given several times")
	return cmd
}

func (s *session) body(said string) ([]byte, error) {
	path, ok := strings.CutPrefix(said, "@")
	switch {
	case !ok:
		return []byte(said), nil
	case path == "-":
		return io.ReadAll(io.LimitReader(s.cmd.InOrStdin(), bodyMost))
	}
	return os.ReadFile(path) //nolint:gosec // the user names it
}

// raw prints the answer as it came; indented where it is JSON.
func (s *session) raw(method, path string, body []byte, headers []string) error {
	ctx, cancel := context.WithTimeout(s.ctx(), 10*patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(s.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return Misuse("%w", err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return Misuse("--header must be 'Name: value'")
		}
		req.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") && resp.StatusCode < 300 {
		_, err = io.Copy(s.out(), resp.Body)
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, text, "", "  ") != nil {
		pretty.Reset()
		pretty.Write(text)
	}
	if pretty.Len() > 0 {
		_, err = fmt.Fprintln(s.out(), strings.TrimRight(pretty.String(), "\n"))
	}
	if err == nil && resp.StatusCode >= 300 {
		err = &client.Error{Status: resp.StatusCode, Code: "refused", Message: resp.Status}
	}
	return err
}
