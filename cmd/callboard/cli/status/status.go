// Package status implements the command callboard status. It shows the state of the service, the workspace, the
// campaigns, the trunks and the nodes.
package status

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/campaigns"
	"github.com/callboard/callboard/cmd/callboard/cli/operator"
)

// serviceStatus is the JSON output of the command callboard status.
type serviceStatus struct {
	URL         string              `json:"url"`
	Ready       bool                `json:"ready"`
	Reason      string              `json:"reason,omitempty"` // why the service is not ready
	WorkspaceID string              `json:"workspace_id"`
	Workspace   string              `json:"workspace"`
	Environment string              `json:"environment"`
	LiveCalls   int                 `json:"live_calls"`
	MoreCalls   bool                `json:"more_calls"` // whether there are more live calls than live_calls
	Campaigns   []campaignStatus    `json:"campaigns"`  // running and paused campaigns
	Trunks      []trunkStatus       `json:"trunks"`
	Endpoints   []endpointStatus    `json:"endpoints"` // webhook endpoints that are not active
	Today       *client.UsageTotals `json:"today"`
	Nodes       []client.NodeNow    `json:"nodes,omitempty"`  // nodes of a cluster; only with an operator key
	Unread      []unread            `json:"unread,omitempty"` // sections that could not be read and are therefore empty

	failed error // joined errors of the unread sections
}

// unread names a section of the status, such as the trunks, that could not be read.
type unread struct {
	What  string `json:"what"`
	Error string `json:"error"`
}

type campaignStatus struct {
	ID     string                       `json:"id"`
	Name   string                       `json:"name"`
	Status *client.CampaignStatusObject `json:"status"`
}

type trunkStatus struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Health string `json:"health"`
	Error  string `json:"error,omitempty"`
}

type endpointStatus struct {
	ID     string `json:"id"`
	URL    string `json:"url"`
	Status string `json:"status"`
}

// Command returns the command callboard status.
func Command() *cobra.Command {
	return cli.NewCommand("status", "Show the status of a service and its workspace; exit code 1 if the service is not ready",
		"callboard status\ncallboard status --profile production --json", cobra.NoArgs, func(s *cli.Session, _ []string) error {
			st := &serviceStatus{URL: s.URL, Campaigns: []campaignStatus{}, Trunks: []trunkStatus{}, Endpoints: []endpointStatus{}}
			once := *s.Client
			once.Retries = 0
			_, err := once.Readyz(s.Context())
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
			if err = gatherStatus(s, st); err != nil {
				return err
			}
			if s.AsJSON {
				err = s.PrintJSON(st)
			} else {
				err = printStatus(s, st)
			}
			switch {
			case err != nil:
				return err
			case st.failed != nil:
				return st.failed
			case !st.Ready:
				return fmt.Errorf("the service is not ready: %w", cli.ErrCheckFailed)
			}
			return nil
		})
}

// gatherStatus reads all sections of the status. If the service responds with a 5xx status, it lists the section as
// unread and continues.
func gatherStatus(s *cli.Session, st *serviceStatus) error {
	w, err := s.GetWorkspace(s.Context())
	if err != nil {
		return err
	}
	st.WorkspaceID, st.Workspace, st.Environment = w.ID, w.Name, cli.EnvironmentOf(s, w)
	for _, part := range []struct {
		what string
		read func(*cli.Session, *serviceStatus) error
	}{{"calls", readCalls}, {"campaigns", readCampaigns}, {"trunks", readTrunks}, {"endpoints", readEndpoints}, {"today", readUsageToday}, {"nodes", readNodes}} {
		err := part.read(s, st)
		var refusal *client.Error
		switch {
		case errors.As(err, &refusal) && refusal.Status >= http.StatusInternalServerError:
			st.Unread = append(st.Unread, unread{part.what, err.Error()})
			st.failed = errors.Join(st.failed, fmt.Errorf("%s: unknown: %w", part.what, err))
			hasty := *s.Client
			hasty.Retries = 0 // the service fails, so the requests for the other sections are not repeated
			s.Client = &hasty
		case err != nil:
			return err
		}
	}
	return nil
}

func readCalls(s *cli.Session, st *serviceStatus) error {
	live, err := s.ListCalls(s.Context(), client.ListCallsQuery{Status: "active", Limit: callsPageSize})
	if err == nil {
		st.LiveCalls, st.MoreCalls = len(live.Data), live.HasMore
	}
	return err
}

func readCampaigns(s *cli.Session, st *serviceStatus) error {
	for _, status := range []string{"running", "paused"} {
		page, err := s.ListCampaigns(s.Context(), client.ListCampaignsQuery{Status: status, Limit: 20})
		if err != nil {
			return err
		}
		for _, c := range page.Data {
			one, err := s.GetCampaignStatus(s.Context(), c.ID)
			if err != nil {
				return err
			}
			st.Campaigns = append(st.Campaigns, campaignStatus{c.ID, c.Name, one})
		}
	}
	return nil
}

func readTrunks(s *cli.Session, st *serviceStatus) error {
	for t, err := range s.AllTrunks(s.Context(), client.ListTrunksQuery{}) {
		if err != nil {
			return err
		}
		one := trunkStatus{ID: t.ID, Name: t.Name}
		if t.Health != nil {
			one.Health, one.Error = t.Health.Status, t.Health.LastError
		}
		st.Trunks = append(st.Trunks, one)
	}
	return nil
}

func readEndpoints(s *cli.Session, st *serviceStatus) error {
	for h, err := range s.AllWebhooks(s.Context(), client.ListWebhooksQuery{}) {
		if err != nil {
			return err
		}
		if h.Status != "active" {
			st.Endpoints = append(st.Endpoints, endpointStatus{h.ID, h.URL, h.Status})
		}
	}
	return nil
}

func readUsageToday(s *cli.Session, st *serviceStatus) error {
	today := time.Now().UTC().Format(time.DateOnly)
	used, err := s.GetUsage(s.Context(), client.GetUsageQuery{From: today, To: today})
	if err == nil {
		st.Today = &used.Total
	}
	return err
}

// readNodes reads the nodes of a cluster. Without an operator key it leaves the list empty.
func readNodes(s *cli.Session, st *serviceStatus) error {
	list, err := s.ListNodes(s.Context())
	var refusal *client.Error
	if errors.As(err, &refusal) && (refusal.Status == http.StatusForbidden || refusal.Status == http.StatusNotFound) {
		return nil
	}
	if err == nil {
		st.Nodes = slices.DeleteFunc(list.Data, func(n client.NodeNow) bool { return n.Address == "" }) // a single node has no address
	}
	return err
}

func printStatus(s *cli.Session, st *serviceStatus) error {
	w := tabwriter.NewWriter(s.Out(), 0, 4, 2, ' ', 0)
	ready := "ready"
	if !st.Ready {
		ready = "not ready: " + st.Reason
	}
	cli.WriteRow(w, "service", st.URL+" "+ready)
	cli.WriteRow(w, "workspace", st.Workspace+" ("+st.Environment+")")
	if !st.isUnread("calls") {
		cli.WriteRow(w, "live calls", fmt.Sprintf("%d%s", st.LiveCalls, map[bool]string{true: " or more"}[st.MoreCalls]))
	}
	for _, c := range st.Campaigns {
		cli.WriteRow(w, "campaign", c.ID+" "+c.Name+" "+campaigns.StatusLine(c.Status))
	}
	for _, t := range st.Trunks {
		cli.WriteRow(w, "trunk", strings.TrimSpace(t.ID+" "+t.Name+" "+t.Health+" "+t.Error))
	}
	for _, e := range st.Endpoints {
		cli.WriteRow(w, "endpoint", e.ID+" "+e.URL+" "+e.Status)
	}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		cli.WriteRow(w, "node", fmt.Sprintf("%s %s: %d shards, %d live calls, %s", n.ID, n.Address, n.Shards, n.LiveCalls, operator.DescribeNode(n)))
	}
	if st.Today != nil {
		cli.WriteRow(w, "today", fmt.Sprintf("%d attempts, %d inbound calls, %.1f minutes, %d messages", st.Today.Attempts, st.Today.InboundCalls, st.Today.Minutes, st.Today.SMS))
	}
	for _, u := range st.Unread {
		cli.WriteRow(w, u.What, "unknown: "+u.Error)
	}
	return w.Flush()
}

// isUnread reports whether a section of the status could not be read.
func (st *serviceStatus) isUnread(what string) bool {
	return slices.ContainsFunc(st.Unread, func(u unread) bool { return u.What == what })
}

// callsPageSize is the maximum number of live calls that the status counts.
const callsPageSize = 100
