// Package httpapi is the front door: it authenticates, limits, validates,
// asks and answers. It knows HTTP and the shape of the API; it knows no actor
// and no store: services.go says what it needs of the service behind it.
package httpapi
