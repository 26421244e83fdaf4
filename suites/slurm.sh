#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
#
# The suite as an array job of Slurm: each task measures its part on a GPU of its own, and the last line joins the parts.
#
#   job=$(sbatch --parsable suites/slurm.sh)
#   sbatch --dependency=afterok:$job --wrap "opweave suite merge .opweave/shards/$job/*/*.json"
#
#SBATCH --job-name=opweave-suite
#SBATCH --array=1-8
#SBATCH --gres=gpu:1
#SBATCH --exclusive=user
#SBATCH --cpus-per-task=8
#SBATCH --time=02:00:00
set -euo pipefail

# A folder for each task: a task that was requeued goes on with its own run.
runs=".opweave/shards/${SLURM_ARRAY_JOB_ID}/${SLURM_ARRAY_TASK_ID}"
resume=()
if compgen -G "$runs/*.json" > /dev/null; then resume=(--resume); fi

exec opweave suite --device cuda:0 --runs "$runs" \
  --shard "${SLURM_ARRAY_TASK_ID}/${SLURM_ARRAY_TASK_COUNT}" "${resume[@]}"
