package dashboard

import (
	"net/url"
	"time"
)

// homePage shows problems first, then the steps of a new workspace, then what happens now.
func homePage(r *Request) (view, error) {
	data := object{}
	for part, fill := range map[string]func(*Request, object) error{"live": addLiveCalls, "people": addRecentCalls, "chart": addCallRates} {
		if r.Part != "" && r.Part != part {
			continue
		}
		if err := fill(r, data); err != nil && !isNotVisible(err) {
			return view{}, err
		}
	}
	if r.Part == "" {
		var err error
		if data["steps"], err = r.checklist(); err != nil {
			return view{}, err
		}
	}
	return view{name: "home", title: "Home", data: data}, nil
}

// addLiveCalls adds problems, live calls, today's figures and running campaigns to the data of Home.
func addLiveCalls(r *Request, data object) (err error) {
	if data["workspaceProblems"], err = r.workspaceProblems(); err != nil {
		return err
	}
	workspace, err := r.get("/v1/workspace")
	if err != nil && !isNotVisible(err) {
		return err
	}
	running, err := r.first("/v1/campaigns?status=running")
	if err != nil && !isNotVisible(err) {
		return err
	}
	for _, c := range running.Data {
		status, lost := r.get("/v1/campaigns/" + text(c, "id") + "/status")
		if lost != nil && !isNotVisible(lost) {
			return lost
		}
		c["progress"], c["timing"] = status["progress"], status["timing"]
	}
	live, err := r.first("/v1/calls?status=active")
	if err != nil && !isNotVisible(err) {
		return err
	}
	day := time.Now().UTC().Format(time.DateOnly)
	usage, err := r.get("/v1/usage?from=" + day + "&to=" + day)
	if err != nil && !isNotVisible(err) {
		return err
	}
	used := map[string]int{}
	for _, c := range live.Data {
		used[text(c, "direction")]++
	}
	data["workspace"], data["running"], data["live"], data["more"], data["today"] = workspace, running.Data, len(live.Data), live.More, usage["total"]
	data["out"], data["in"] = used["outbound"], used["inbound"]
	return nil
}

// addRecentCalls adds the newest calls and their outcomes to the data of Home.
func addRecentCalls(r *Request, data object) error {
	recent, err := r.first("/v1/calls")
	if err != nil && !isNotVisible(err) {
		return err
	}
	newest := recent.Data[:min(len(recent.Data), 8)]
	data["outcomes"], data["recent"], data["counted"] = outcomesOf(recent.Data), r.callRows(newest), len(recent.Data)
	return nil
}

// addCallRates adds the calls per minute of the last hour to the data of Home.
func addCallRates(r *Request, data object) error {
	now := time.Now().UTC()
	since := now.Truncate(time.Minute).Add(-59 * time.Minute) // sixty minutes including the current one
	rates, err := r.rates("/v1/calls?created_after="+url.QueryEscape(since.Format(time.RFC3339)), since, now)
	data["rates"] = rates
	return err
}

// outcomesOf returns for each outcome its share of the given calls, largest share first.
func outcomesOf(calls []object) []share {
	counts := map[string]float64{}
	for _, c := range calls {
		if how := text(c, "disposition"); how != "" {
			counts[how]++
		}
	}
	return shares(counts)
}
