// Package agents serves the operations of agents and of what they use: engines,
// tools, pathways, knowledge bases, appointments.
package agents
