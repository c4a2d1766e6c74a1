// Package domain holds the nouns of Callboard and their JSON: campaign,
// contact, call, agent, pathway, webhook, key, trunk, workspace. It knows no
// clock, no socket, no store and no actor.
package domain
