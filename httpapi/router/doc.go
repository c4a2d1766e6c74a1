// Package router registers the operations of the API with the OpenAPI document and serves them: it decodes and
// validates requests and writes responses.
//
// Handlers get a Router and no other part of the server. Authentication, rate limits, idempotency, forwarding and the
// audit log are behind the interfaces of Config.
package router
