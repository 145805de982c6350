// Package learn is a room: the course and all that a class needs.
//
// In it: course (the lessons, and who takes them), workshop (the exercises), check (who does them), classroom (the room that predicts
// together), steps (the evolution as differences), figures (what bench measured of each step), doctor (what a machine lacks), site (the
// page for a host of files), progress (how far a learner is).
// May import: explore, stage/lab, lock/evolution, shop/api, shop/route.
// Begin with: course.
package learn
