package telephony

import "github.com/callboard/callboard/httpapi/router"

// Services are the services that the operations of this package use.
type Services struct {
	Numbers   Numbers
	TestCalls TestCalls
	Trunks    Trunks
	Phones    Phones
}

// Register registers the operations of this package.
func Register(r *router.Router, services Services) {
	registerNumbers(r, services.Numbers, services.TestCalls)
	registerTrunks(r, services.Trunks)
	registerPhones(r, services.Phones)
}
