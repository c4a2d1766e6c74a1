package agents

import "github.com/callboard/callboard/httpapi/router"

// Services are the services that the handlers of this package call.
type Services struct {
	Agents       Agents
	Tools        Tools
	Pathways     Pathways
	Models       Models         // models that run test conversations
	Calls        PastCalls      // calls that can be replayed
	Campaigns    CampaignReader // campaigns of the replayed calls
	Providers    Providers
	Appointments Appointments
	Knowledge    Knowledge
}

// Register registers the routes for agents, tools, pathways, knowledge bases, providers and appointments.
func Register(r *router.Router, services Services, speech PathwaySpeech) {
	registerAgents(r, services.Agents)
	registerTools(r, services.Tools)
	registerPathways(r, services, speech)
	registerProviders(r, services.Providers)
	registerAppointments(r, services.Appointments, services.Providers)
	registerKnowledge(r, services.Knowledge)
}
