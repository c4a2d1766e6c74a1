package server

import (
	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/httpapi"
)

// portsOf gives everything that the front door asks for to the desk.
func portsOf(d *actors.Desk) httpapi.Ports {
	return httpapi.Ports{
		Auth: d, Campaigns: d, Contacts: d, Calls: d, Recordings: d, Listening: d, Talking: d, Agents: d, Pathways: d, Tools: d, Trunks: d, Numbers: d, Phones: d, DNC: d,
		Webhooks: d, Deliveries: d, Keys: d, Tokens: d, OAuth: d, Consents: d, Users: d, Audit: d, Workspaces: d, Usages: d, Bulks: d, Exports: d, Data: d, Tenants: d, Operators: d, Quarantines: d, Alerts: d, Events: d, Health: d, Windows: d, Once: d,
		Bookings: d, Messages: d, Textings: d, Gateways: d, Knowledge: d,
	}
}

// APIDocument is the OpenAPI document of the API, for which no service is needed.
func APIDocument(version string) []byte {
	return httpapi.New(httpapi.Config{Version: version}, portsOf(new(actors.Desk))).Document()
}
