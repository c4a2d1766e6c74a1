// Package domain defines the resources of Callboard, such as campaigns, contacts, calls, agents, webhooks and
// trunks, with their JSON and store keys. It has no clock, sockets, store or actors.
package domain
