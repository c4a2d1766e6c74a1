package cli

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
			if err = gatherStatus(s, st); err != nil {
				return err
			}
			if s.asJSON {
				err = s.json(st)
			} else {
				err = printStatus(s, st)
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

// gatherStatus reads all that there is to tell. What the service cannot answer for now is
// left out, and told.
func gatherStatus(s *session, st *standingOf) error {
	w, err := s.GetWorkspace(s.ctx())
	if err != nil {
		return err
	}
	st.WorkspaceID, st.Workspace, st.Environment = w.ID, w.Name, environmentOf(s, w)
	for _, part := range []struct {
		what string
		read func(*session, *standingOf) error
	}{{"calls", readCalls}, {"campaigns", readCampaigns}, {"trunks", readTrunks}, {"endpoints", readEndpoints}, {"today", readUsageToday}, {"nodes", readNodes}} {
		err := part.read(s, st)
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

func readCalls(s *session, st *standingOf) error {
	live, err := s.ListCalls(s.ctx(), client.ListCallsQuery{Status: "active", Limit: callsPageSize})
	if err == nil {
		st.LiveCalls, st.MoreCalls = len(live.Data), live.HasMore
	}
	return err
}

func readCampaigns(s *session, st *standingOf) error {
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

func readTrunks(s *session, st *standingOf) error {
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

func readEndpoints(s *session, st *standingOf) error {
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

func readUsageToday(s *session, st *standingOf) error {
	today := time.Now().UTC().Format(time.DateOnly)
	used, err := s.GetUsage(s.ctx(), client.GetUsageQuery{From: today, To: today})
	if err == nil {
		st.Today = &used.Total
	}
	return err
}

// readNodes reads the nodes of an install of several; none for whoever is no operator.
func readNodes(s *session, st *standingOf) error {
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

func printStatus(s *session, st *standingOf) error {
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

// callsPageSize is the number of live calls that a status counts.
const callsPageSize = 100
