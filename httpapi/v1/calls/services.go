package calls

import "github.com/callboard/callboard/httpapi/router"

// Services are the services that the operations of this package use.
type Services struct {
	Calls      Calls
	Actions    CallActions
	Events     CallEvents
	Recordings Recordings
}

// Register registers the operations of calls.
func Register(r *router.Router, services Services) {
	registerCalls(r, services)
	registerRecordings(r, services.Calls, services.Recordings)
}
