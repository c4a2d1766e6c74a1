package jobs

// Running reports whether a job with this name is running.
func (r *Runner) Running(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[name] != nil
}
