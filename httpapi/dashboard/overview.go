package dashboard

import (
	"net/url"
	"time"
)

// overviewPage shows the current activity of the workspace.
func overviewPage(r *Request) (view, error) {
	data := object{}
	for part, fill := range map[string]func(*Request, object) error{"live": addLiveCalls, "people": addRecentCalls, "chart": addCallRates} {
		if r.Part != "" && r.Part != part {
			continue
		}
		if err := fill(r, data); err != nil && !isNotVisible(err) {
			return view{}, err
		}
	}
	return view{name: "overview", title: "Overview", data: data}, nil
}

// addLiveCalls adds live calls, running campaigns and disabled webhooks to the data of the overview page.
func addLiveCalls(r *Request, data object) error {
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
		c["progress"] = status["progress"]
	}
	live, err := r.first("/v1/calls?status=active")
	if err != nil && !isNotVisible(err) {
		return err
	}
	hooks, err := r.first("/v1/webhooks?status=disabled")
	used := map[string]int{}
	for _, c := range live.Data {
		used[text(c, "direction")]++
	}
	data["workspace"], data["running"], data["live"], data["more"], data["disabled"] = workspace, running.Data, len(live.Data), live.More, hooks.Data
	data["out"], data["in"] = used["outbound"], used["inbound"]
	return err
}

// addRecentCalls adds the newest calls and their outcomes to the data of the overview page.
func addRecentCalls(r *Request, data object) error {
	recent, err := r.first("/v1/calls")
	if err != nil && !isNotVisible(err) {
		return err
	}
	trunks, err := r.first("/v1/trunks")
	newest := recent.Data
	if len(newest) > 8 {
		newest = newest[:8]
	}
	data["outcomes"], data["recent"], data["counted"], data["trunks"] = outcomesOf(recent.Data), newest, len(recent.Data), trunks.Data
	return err
}

// addCallRates adds the calls per minute of the last hour to the data of the overview page.
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
