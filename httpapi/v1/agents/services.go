package agents

import "github.com/callboard/callboard/httpapi/router"

// Services are the use cases behind the operations of agents.
type Services struct {
	Agents       Agents
	Tools        Tools
	Pathways     Pathways
	Models       Models         // that test conversations with a pathway
	Calls        PastCalls      // whose pathway runs are tested again
	Campaigns    CampaignReader // of those calls
	Providers    Providers
	Appointments Appointments
	Knowledge    Knowledge
}

// Register registers the operations of agents.
func Register(r *router.Router, services Services, speech PathwaySpeech) {
	registerAgents(r, services.Agents)
	registerTools(r, services.Tools)
	registerPathways(r, services, speech)
	registerProviders(r, services.Providers)
	registerAppointments(r, services.Appointments, services.Providers)
	registerKnowledge(r, services.Knowledge)
}
