// Package router registers the operations of the API with the OpenAPI document and
// serves them: it decodes and validates requests and writes responses.
//
// Handlers get a Router and nothing else of the server. What authenticates, limits,
// repeats, forwards and audits requests is behind the interfaces of Config.
package router
