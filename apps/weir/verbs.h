/*
 * verbs: what `weir` can do, one function a verb.
 *
 * Each lives in its own folder apps/NAME and has a row in the table of main.c. argv[0] is the
 * verb's name. The result is the exit status (apps/common/exit.h).
 */
#ifndef WEIR_APPS_VERBS_H
#define WEIR_APPS_VERBS_H

int verb_doctor(int argc, char **argv);
int verb_host(int argc, char **argv);
int verb_stacks(int argc, char **argv);
int verb_serve(int argc, char **argv);
int verb_load(int argc, char **argv);
int verb_plan(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_ceiling(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_compare(int argc, char **argv);
int verb_trend(int argc, char **argv);
int verb_calibrate(int argc, char **argv);
int verb_reproduce(int argc, char **argv);
int verb_verify(int argc, char **argv);
int verb_sim(int argc, char **argv);
int verb_agent(int argc, char **argv);

#endif
