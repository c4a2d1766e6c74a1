package agents

import (
	"encoding/json"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// ChatResult is the result of one run of an action in a chat. The action itself is not run.
type ChatResult struct {
	Node   string         `json:"node" maxLength:"64" doc:"Id of the node that runs the action." example:"times"`
	Failed bool           `json:"failed,omitempty" doc:"true: the action fails, for example because the appointment was taken meanwhile."`
	Result map[string]any `json:"result,omitempty" doc:"Result of the action. The pathway reads its fields from the variable save_as."`
}

// simulateActions returns a function that ends actions with the given results instead of running them.
func simulateActions(script *domain.Script, results []ChatResult) func(pathway.ActionRequest) pathway.ActionEnded {
	given := make(map[string][]ChatResult) // by node
	for _, r := range results {
		given[r.Node] = append(given[r.Node], r)
	}
	return func(a pathway.ActionRequest) pathway.ActionEnded {
		out := pathway.ActionEnded{Round: a.Round, ID: a.ID, OK: true}
		switch left := given[a.Node]; {
		case len(left) > 0:
			r := left[0]
			if len(left) > 1 {
				given[a.Node] = left[1:]
			}
			out.OK = !r.Failed
			if r.Result != nil {
				b, _ := json.Marshal(r.Result) // decoded from JSON: marshaling cannot fail
				out.Result = string(b)
			}
		case a.ID != "":
			out.Result = pathway.SimulatedResult
		case a.Type == domain.NodeAppointment && a.Target == "availability":
			out.Result = sampleTimes(script)
		}
		return out
	}
}

// sampleTimes returns the result of an availability node: times of the next day in the agent's time zone.
func sampleTimes(script *domain.Script) string {
	zone, err := time.LoadLocation(script.Timezone)
	if err != nil {
		zone = time.UTC
	}
	year, month, day := time.Now().In(zone).Date()
	free := make([]string, 0, 3)
	for _, hour := range []int{9, 10, 14} {
		free = append(free, time.Date(year, month, day+1, hour, 0, 0, 0, zone).Format(time.RFC3339))
	}
	b, _ := json.Marshal(map[string][]string{"free": free}) // texts: marshaling cannot fail
	return string(b)
}
