// Package agents serves the API operations for agents and their resources: tools, pathways, knowledge bases,
// providers and appointments.
package agents
