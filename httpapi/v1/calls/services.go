package calls

import "github.com/callboard/callboard/httpapi/router"

// Services are the services that the handlers of this package call.
type Services struct {
	Calls      Calls
	Actions    CallActions
	Events     CallEvents
	Recordings Recordings
}

// Register registers the routes for calls and their recordings.
func Register(r *router.Router, services Services) {
	registerCalls(r, services)
	registerRecordings(r, services.Calls, services.Recordings)
}
